import type { Payload, StoredEntry } from '../entry/index.js';
import type { Slot } from '../guard/index.js';
import type { EntryKey } from '../keys/index.js';
import type { ChainLink, Place } from '../load/index.js';
import { nothing } from '../nothing.js';

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
      /** Store time at which it ceases to be fresh; 0: nothing was stored. */
      readonly softAt: number;
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
  ticket: Place | undefined;
  /** The store has been asked: a `forced` flight is not joined any more, its first answer dates it. */
  asked = false;
  /** Ids of the tags known before its load. */
  tags: readonly string[] = [];
  /** Slots of loads that wait for this flight: it may run on any of them. */
  lenders: Set<Slot> | undefined;
  /** Callers waiting for it. */
  callers = 0;
  /** Called when the last caller has gone before the end. */
  onDeserted: () => void = nothing;

  private readonly loaded = new Arrivals();
  private readonly landed = new Arrivals();

  constructor(
    readonly key: EntryKey,
    /** A `forced` flight answers only with a load begun after it was asked for. */
    readonly kind: 'foreground' | 'forced' | 'refresh',
    /** The entry its leader held and would not take: a laxer reader may. */
    readonly held?: StoredEntry,
  ) {}

  /**
   * Calls `take` with the landing for a caller who arrived at `arrival`, at once if it is known. Who arrived before the load began may take its value whatever the
   * store says of it; everybody else waits for the commit, since only that proves that nothing was invalidated in between.
   */
  onLanding(arrival: number, take: (landing: Landing) => void): void {
    const cameBefore = this.begunAt === undefined || arrival < this.begunAt;
    (cameBefore ? this.loaded : this.landed).meet(take);
  }

  /** The load is over: answers those who came before it began. */
  landEarly(landing: Landing): void {
    this.loaded.announce(landing);
  }

  /** The flight is over: answers everybody else. */
  land(landing: Landing): void {
    this.loaded.announce(landing);
    this.landed.announce(landing);
  }
}

/** Those who wait for one landing. Plain callbacks: a promise for each of thousands of callers costs them milliseconds. */
class Arrivals {
  private landing: Landing | undefined;
  private waiting: ((landing: Landing) => void)[] | undefined;

  meet(take: (landing: Landing) => void): void {
    if (this.landing) take(this.landing);
    else if (this.waiting) this.waiting.push(take);
    // Most flights have one caller; an empty list would grow to room for many at the first.
    else this.waiting = [take];
  }

  /** The first landing counts. */
  announce(landing: Landing): void {
    if (this.landing) return;
    this.landing = landing;
    const { waiting = [] } = this;
    this.waiting = undefined;
    for (const take of waiting) take(landing);
  }
}
