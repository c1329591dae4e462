import type { AbortWatch } from '../abort-watch.js';
import type { Flight, Landing } from '../flight/index.js';
import { countWait, type ChainLink } from '../load/index.js';
import { nothing } from '../nothing.js';
import type { Cancel, Runtime } from '../ports.js';

/** How soon a passed limit is judged anew, ms. */
const LOOK_AGAIN = 10;

/** How waiting for a flight ended: by its landing, or by the caller's own `waitTimeout`. */
export type RideEnd = Landing | { readonly kind: 'late' };

/**
 * One caller's wait for a flight. The caller may leave it, by its signal or its deadline, without disturbing the others; the
 * last one out tells the flight.
 */
export class Ride {
  readonly end: Promise<RideEnd>;
  private over = false;
  private counted = true;
  private stopLimit: Cancel | undefined;
  private leaveSignal: Cancel | undefined;
  private resolve!: (end: RideEnd) => void;
  private reject!: (error: unknown) => void;

  constructor(
    private readonly flight: Flight,
    private readonly inside: ChainLink | undefined,
    /** When the caller came, by the arrival clock. */
    arrival: number,
  ) {
    this.end = new Promise<RideEnd>((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    flight.callers += 1;
    if (inside) countWait(inside, flight, 1);
    if (inside?.slot) (flight.lenders ??= new Set()).add(inside.slot);
    flight.onLanding(arrival, (landing) => this.leave(() => this.resolve(landing)));
  }

  /** The caller has its answer; the load goes on as if it still waited. */
  settle(): void {
    this.cancel();
  }

  /** Rejects with the signal's reason when it aborts. */
  abortBy(watch: AbortWatch, signal: AbortSignal): void {
    if (this.over) return;
    // A caller busy with its own stale value looks later; its rejection must not count as unhandled until then.
    this.end.catch(() => undefined);
    const onAbort = (): void => this.leave(() => this.reject(signal.reason));
    if (signal.aborted) {
      onAbort();
      return;
    }
    this.leaveSignal = watch.on(signal, onAbort);
  }

  /** Ends the ride as `late` after `ms` of waiting; a load that runs by then has its own deadline. */
  limitWait(runtime: Runtime, ms: number): void {
    if (this.over) return;
    const onLimit = (): void => {
      const { phase } = this.flight;
      if (phase === 'queued' || phase === 'waiting') this.leave(() => this.resolve({ kind: 'late' }));
      // The store is being asked, which has its own deadline: look again.
      else if (phase === 'asking') this.limitWait(runtime, LOOK_AGAIN);
    };
    this.stopLimit = runtime.timers.after(Math.max(0, ms), onLimit);
  }

  /** How it ends, or `soft` after `ms`. */
  async within({ timers }: Runtime, ms: number): Promise<RideEnd | 'soft'> {
    let stop: Cancel = nothing;
    const soft = new Promise<'soft'>((resolve) => {
      stop = timers.after(Math.max(0, ms), () => resolve('soft'));
    });
    try {
      return await Promise.race([this.end, soft]);
    } finally {
      stop();
    }
  }

  /** Leaves the flight. Idempotent. */
  leave(then: () => void = () => undefined): void {
    if (this.over) return;
    this.over = true;
    this.cancel();
    this.flight.callers -= 1;
    if (this.flight.callers === 0 && this.flight.phase !== 'sealed') this.flight.onDeserted();
    then();
  }

  private cancel(): void {
    this.stopLimit?.();
    this.leaveSignal?.();
    if (!this.inside || !this.counted) return;
    this.counted = false;
    countWait(this.inside, this.flight, -1);
    if (this.inside.slot) this.flight.lenders?.delete(this.inside.slot);
  }
}
