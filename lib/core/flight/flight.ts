import { deferred } from '../deferred.js';
import type { Payload, StoredEntry } from '../entry/index.js';
import type { Slot, Ticket } from '../guard/index.js';
import type { EntryKey } from '../keys/index.js';
import type { ChainLink } from '../load/index.js';

/**
 * What an error is to its callers. `failure`: a stale value or the fallback may stand in. `barred`: the same, and only the
 * leader's policy kept the origin from being called. `final`: only the fallback.
 * `answer`: the loader had this to say (`negativeErrors`), nothing stands in.
 */
export type ErrorNature = 'failure' | 'barred' | 'final' | 'answer';

/**
 * How a flight ends.
 * - `value`, `error`: for everybody it is given to.
 * - `resting`: the last refresh failed and the fleet rests; whoever holds a stale value takes it.
 * - `nothing`: whoever still wants a value starts or joins another flight, knowing what was found unusable.
 */
export type Landing =
  | {
      readonly kind: 'value';
      readonly payload: Payload;
      readonly how: 'loaded' | 'waited';
      /** The entry's id, where it came from the store. */
      readonly id: string;
      /** Store time at which its load ended. */
      readonly bornAt: number;
    }
  | { readonly kind: 'error'; readonly error: unknown; readonly nature: ErrorNature }
  | { readonly kind: 'resting' }
  | { readonly kind: 'nothing'; readonly rejectedId: string; readonly since: number | undefined };

export const NOTHING: Landing = { kind: 'nothing', rejectedId: '', since: undefined };

/** `queued`: for a slot; `asking` the store; `waiting` for another process. */
export type FlightPhase = 'queued' | 'asking' | 'waiting' | 'loading' | 'sealed';

/** One attempt of this process to get one key's value, shared by all callers who join it. Runs at most one load. */
export class Flight {
  phase: FlightPhase = 'queued';
  /** The tick of the arrival clock at which its load began. */
  begunAt: number | undefined;
  /** Its load, as seen by the calls made inside it. */
  link: ChainLink | undefined;
  /** Its place in the guard's queue. */
  ticket: Ticket | undefined;
  /** The store has been asked: a `forced` flight is not joined any more, its first answer dates it. */
  asked = false;
  /** Slots of loads that wait for this flight: it may run on any of them. */
  readonly lenders = new Set<Slot>();
  /** Callers waiting for it. */
  callers = 0;
  /** Called when the last caller has gone before the end. */
  onDeserted: () => void = () => undefined;

  private readonly loaded = deferred<Landing>();
  private readonly landed = deferred<Landing>();

  constructor(
    readonly key: EntryKey,
    /** A `forced` flight answers only with a load begun after it was asked for. */
    readonly kind: 'foreground' | 'forced' | 'refresh',
    /** The entry its leader held and would not take: a laxer reader may. */
    readonly held?: StoredEntry,
  ) {}

  /**
   * The landing for a caller who arrived at `arrival`. Who arrived before the load began may take its value whatever the
   * store says of it; everybody else waits for the commit, since only that proves that nothing was invalidated in between.
   */
  landingFor(arrival: number): Promise<Landing> {
    const cameBefore = this.begunAt === undefined || arrival < this.begunAt;
    return cameBefore ? this.loaded.promise : this.landed.promise;
  }

  /** The load is over: answers those who came before it began. */
  landEarly(landing: Landing): void {
    this.loaded.resolve(landing);
  }

  /** The flight is over: answers everybody else. */
  land(landing: Landing): void {
    this.loaded.resolve(landing);
    this.landed.resolve(landing);
  }
}
