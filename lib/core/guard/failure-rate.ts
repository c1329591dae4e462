import { CircuitState, type IBreaker } from 'cockatiel';
import type { Clock } from '../ports.js';
import type { BreakerLimits } from './limits.js';

interface Slice {
  began: number;
  failures: number;
  successes: number;
}

/** Slices of the window: what is counted is as old as the window, or younger by less than one of them. */
const SLICES = 10;

/**
 * The share of failures within a window that slides with the clock, which decides when the breaker opens. The library's own
 * sampling ages only with what it counts: failures of hours ago would still count for a cache that seldom loads.
 */
export class FailureRate implements IBreaker {
  private slices: Slice[] = [];

  constructor(
    private readonly limits: BreakerLimits,
    private readonly clock: Clock,
  ) {}

  /** What the window holds now. */
  get state(): { readonly failures: number; readonly total: number } {
    this.forget();
    const failures = this.slices.reduce((sum, slice) => sum + slice.failures, 0);
    return { failures, total: this.slices.reduce((sum, slice) => sum + slice.successes, failures) };
  }

  success(state: CircuitState): void {
    // The origin is well again: what it did before says nothing.
    if (state === CircuitState.HalfOpen) this.slices = [];
    this.current().successes += 1;
  }

  /** True: it is time to open. */
  failure(): boolean {
    this.current().failures += 1;
    const { failures, total } = this.state;
    return total >= this.limits.minimum && failures >= this.limits.threshold * total;
  }

  private current(): Slice {
    this.forget();
    const now = this.clock.now();
    const last = this.slices.at(-1);
    if (last && now - last.began < this.limits.window / SLICES) return last;
    const slice = { began: now, failures: 0, successes: 0 };
    this.slices.push(slice);
    return slice;
  }

  private forget(): void {
    const since = this.clock.now() - this.limits.window;
    this.slices = this.slices.filter(({ began }) => began > since);
  }
}
