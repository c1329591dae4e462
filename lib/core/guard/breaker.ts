import { circuitBreaker, CircuitState, handleAll, type CircuitBreakerPolicy, type IBackoff } from 'cockatiel';
import { nothing } from '../nothing.js';
import type { Clock } from '../ports.js';
import { FailureRate } from './failure-rate.js';
import type { BreakerLimits } from './limits.js';

/** What a load says of its origin. `nothing`: it was aborted, or never called it. */
export type Verdict = 'success' | 'failure' | 'nothing';
export type BreakerState = 'closed' | 'open' | 'half-open';

/** The leave to call the origin once, given by the breaker. */
export interface Permit {
  /** The breaker's change of state after which it was given. */
  readonly era: number;
  /** Part of a load that tries the origin, which alone speaks for both. */
  readonly inTrial: boolean;
}

/** How soon to ask again while a load tries the origin, ms. */
const TRIAL_RETRY = 1_000;

/** The failure inside the library's circuit: what the load threw is not its business. */
const FAILED = new Error('failed');

/**
 * One pool's circuit breaker. The states are the library's; ours are the rate ({@link FailureRate}), the time, which is the
 * monotonic clock's, and the admission to the trial: the library would let everybody else wait for it.
 */
export class Breaker {
  private readonly circuit: CircuitBreakerPolicy;
  private readonly rate: FailureRate;
  private era = 0;
  private openUntil = 0;
  /** Who may try the origin while half-open. Undefined: the next to come. */
  private trial: Permit | undefined;
  private endTrial: (failed: boolean) => void = nothing;

  constructor(
    private readonly limits: BreakerLimits,
    private readonly clock: Clock,
    private readonly onChange: (state: BreakerState) => void,
  ) {
    this.rate = new FailureRate(limits, clock);
    const isOpen = (): boolean => clock.now() < this.openUntil;
    // The library compares the wall clock's time since it opened with this.
    const rest: IBackoff<unknown> = {
      get duration(): number {
        return isOpen() ? Infinity : -Infinity;
      },
      next: () => rest,
    };
    this.circuit = circuitBreaker(handleAll, { breaker: this.rate, halfOpenAfter: rest });
    this.circuit.onStateChange((state) => this.changed(state));
  }

  get state(): BreakerState {
    if (this.circuit.state === CircuitState.Closed) return 'closed';
    return this.circuit.state === CircuitState.HalfOpen ? 'half-open' : 'open';
  }

  /** For messages: what it saw when it opened. */
  get counts(): { readonly failures: number; readonly total: number } {
    return this.rate.state;
  }

  /** When asking again makes sense, ms. */
  get retryAfter(): number {
    if (this.state === 'half-open') return Math.min(this.limits.halfOpenAfter, TRIAL_RETRY);
    return Math.max(1, Math.ceil(this.openUntil - this.clock.now()));
  }

  /** Leave for one load, or undefined. `around`: the leaves of the loads of this pool that it is part of. */
  ask(around: readonly Permit[]): Permit | undefined {
    const { state } = this;
    if (state === 'closed') return { era: this.era, inTrial: false };
    // The trial would fail for want of what it calls itself.
    const { trial } = this;
    if (trial !== undefined && around.includes(trial)) return { era: this.era, inTrial: true };
    if (trial !== undefined || (state === 'open' && this.clock.now() < this.openUntil)) return undefined;
    this.trial = { era: this.era, inTrial: false };
    if (state === 'open') this.tryOrigin();
    return this.trial;
  }

  /** Whether this leave still stands: the breaker may have opened since. */
  allows(permit: Permit): boolean {
    return this.state === 'closed' || permit === this.trial || (permit.inTrial && permit.era === this.era);
  }

  /** What came of it. Once for each leave. */
  report(permit: Permit, verdict: Verdict): void {
    if (permit === this.trial) {
      if (verdict === 'nothing') this.trial = undefined;
      else this.endTrial(verdict === 'failure');
      return;
    }
    // A load that began before the last change tells of an origin that was judged since.
    if (verdict === 'nothing' || permit.inTrial || permit.era !== this.era || this.state !== 'closed') return;
    this.run(verdict === 'failure' ? () => Promise.reject(FAILED) : () => undefined);
  }

  private tryOrigin(): void {
    this.run(
      () =>
        new Promise<void>((resolve, reject) => {
          const end = (failed: boolean): void => (failed ? reject(FAILED) : resolve());
          this.endTrial = end;
        }),
    );
  }

  private run(outcome: () => Promise<void> | undefined): void {
    this.circuit.execute(outcome).catch(() => undefined);
  }

  private changed(state: CircuitState): void {
    this.era += 1;
    if (state === CircuitState.Open) this.openUntil = this.clock.now() + this.limits.halfOpenAfter;
    if (state !== CircuitState.HalfOpen) {
      this.trial = undefined;
      this.endTrial = nothing;
    }
    this.onChange(this.state);
  }
}
