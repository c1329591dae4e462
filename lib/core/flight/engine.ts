import type { AbortWatch } from '../abort-watch.js';
import type { Deferrals } from '../deferral/index.js';
import type { ErrorTransport, Packing } from '../entry/index.js';
import type { Counters, EventBus } from '../events/index.js';
import type { Baselines, Distrust, Epochs, TagBook, TickReads } from '../coherence/index.js';
import type { StoreGate } from '../gate/index.js';
import type { LoadGuard } from '../guard/index.js';
import { withVariant } from '../keys/index.js';
import type { LoadChain } from '../load/index.js';
import type { NearCache } from '../near/index.js';
import type { Runtime } from '../ports.js';
import type { Planning, Publisher } from '../publish/index.js';
import type { Request } from '../request.js';
import type { Turns } from '../turns.js';
import type { Variants } from '../variants.js';
import type { StampedeCacheEvent } from '../events/index.js';
import type { Flight } from './flight.js';
import type { FlightMap } from './flight-map.js';
import type { Leaseless } from './leaseless.js';
import type { Background } from './background.js';

/** What every part of the algorithm works with. One per cache. */
export interface Engine {
  readonly runtime: Runtime;
  readonly gate: StoreGate;
  readonly reads: TickReads;
  readonly epochs: Epochs;
  readonly tags: TagBook;
  /** What a value will depend on, taken down before its load. */
  readonly baselines: Baselines;
  readonly distrust: Distrust;
  readonly variants: Variants;
  /** Copies of entries in this process. Undefined: the store itself is in it. */
  readonly copies: NearCache | undefined;
  /** The runs whose changes wait for their end. */
  readonly deferrals: Deferrals;
  readonly guard: LoadGuard;
  readonly leaseless: Leaseless;
  readonly chain: LoadChain;
  readonly events: EventBus;
  readonly counters: Counters;
  readonly errors: ErrorTransport;
  readonly planning: Planning;
  readonly publisher: Publisher;
  readonly packing: Packing;
  /** Who wants a copy of a large value, one after the other. */
  readonly turns: Turns;
  readonly background: Background;
  /** Running foreground flights: joined without a read. */
  readonly foreground: FlightMap;
  /** Running flights of calls that want a fresh load: joined only after one's own miss. */
  readonly forced: FlightMap;
  /** Running refreshes: joined only after one's own miss. */
  readonly refreshes: FlightMap;
  /** Loads of callers whose `waitTimeout` is over (`onWaitTimeout: 'load'`). */
  readonly detached: FlightMap;
  /** The signals of callers. */
  readonly abortWatch: AbortWatch;
  /** Ends the loads under way, at shutdown. */
  readonly aborts: Set<(reason: unknown) => void>;
  /** Orders arrivals of callers and beginnings of loads in this process. */
  readonly arrivals: { next(): number };
  /** Who we are, in a lease. */
  readonly holder: string;
}

/** Takes a flight out of every map: nobody joins it any more. */
export function seal(engine: Engine, flight: Flight): void {
  flight.phase = 'sealed';
  for (const map of flightsOf(engine)) map.seal(flight);
}

/**
 * Takes whatever is under way for the key out of the maps, in every variant that this process keeps: it began before an
 * invalidation made here.
 */
export function detach(engine: Engine, { key, name }: Pick<Request, 'key' | 'name'>): void {
  for (const variant of engine.variants.ownOf(name, key.variant)) {
    const own = withVariant(key, variant);
    engine.reads.detach(own);
    for (const map of flightsOf(engine)) map.detach(own);
  }
}

/** The same for what will carry a tag, as far as that is known. */
export function detachTagged(engine: Engine, id: string): void {
  for (const map of flightsOf(engine)) map.detachTagged(id);
}

/** The same for all keys. */
export function detachAll(engine: Engine): void {
  engine.reads.detachAll();
  for (const map of flightsOf(engine)) map.detachAll();
}

function flightsOf({ foreground, forced, refreshes, detached }: Engine): readonly FlightMap[] {
  return [foreground, forced, refreshes, detached];
}

type EventOf<K extends StampedeCacheEvent['type']> = Extract<StampedeCacheEvent, { type: K }>;

/** Emits an event about a request, if anybody listens. */
export function tell<K extends StampedeCacheEvent['type']>(
  engine: Engine,
  request: Pick<Request, 'key' | 'name'>,
  type: K,
  details: Omit<EventOf<K>, 'type' | 'key' | 'name' | 'at'>,
): void {
  if (!engine.events.active) return;
  // The details are those of this very type.
  const event = {
    type,
    key: request.key.id,
    name: request.name,
    at: engine.gate.store.now(),
    ...details,
  } as unknown as EventOf<K>;
  engine.events.emit(event);
}
