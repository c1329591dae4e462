import { AbortWatch } from './abort-watch.js';
import { Advice } from './advice.js';
import type { CacheParts, ResolvedCacheOptions } from './cache-options.js';
import { Baselines, Distrust, Epochs, TagBook, TickReads, Vetting } from './coherence/index.js';
import { Deferrals } from './deferral/index.js';
import { ErrorTransport, Packing } from './entry/index.js';
import { EventBus, newCounters } from './events/index.js';
import { Background, FlightMap, Leaseless, type Engine } from './flight/index.js';
import { StoreGate, type Reachability } from './gate/index.js';
import { LoadGuard } from './guard/index.js';
import { LoadChain } from './load/index.js';
import { NearCache, resolveNear } from './near/index.js';
import { Publisher } from './publish/index.js';
import { Turns } from './turns.js';
import { Variants } from './variants.js';

/** The in-process store is near enough. */
function nearCacheOf(
  { l1, coherence }: ResolvedCacheOptions,
  { store, runtime }: CacheParts,
): NearCache | undefined {
  if (store.kind === 'memory') return undefined;
  const limits = l1 ?? resolveNear({}, 'l1');
  return limits && new NearCache(store, runtime.clock, coherence.maxLag, limits, l1 !== undefined);
}

/** The parts of a cache, each made once and handed to those that need it. */
export function assemble(
  options: ResolvedCacheOptions,
  parts: CacheParts,
  reachability: Reachability,
): Engine {
  const { runtime, store, holder } = parts;
  const counters = newCounters();
  const events = new EventBus(runtime);
  const errors = new ErrorTransport(parts.frameworkErrors);
  const advice = new Advice(runtime);
  const gate = new StoreGate(
    store,
    runtime,
    { read: options.redisTimeout, write: options.redisWriteTimeout },
    counters,
    advice,
    reachability,
  );
  const background = new Background(runtime);
  const { maxLag } = options.coherence;
  const epochs = new Epochs(gate, runtime, maxLag, (task) => background.own(task));
  const tags = new TagBook(gate, runtime.clock, maxLag);
  const distrust = new Distrust(runtime.clock, store);
  const baselines = new Baselines(gate, epochs, tags);
  const variants = new Variants(gate, runtime);
  const copies = nearCacheOf(options, parts);
  const packing = new Packing(runtime.timers, advice, options.maxValueBytes);
  const abortWatch = new AbortWatch();
  let arrivals = 0;
  return {
    runtime,
    gate,
    reads: new TickReads(gate, new Vetting(epochs, tags, distrust, packing), runtime, copies),
    epochs,
    tags,
    baselines,
    distrust,
    variants,
    copies,
    deferrals: new Deferrals(),
    guard: new LoadGuard(options.loads, runtime),
    leaseless: new Leaseless(runtime.clock),
    chain: new LoadChain(),
    events,
    counters,
    errors,
    planning: { random: runtime.random, errors, maxValueBytes: options.maxValueBytes, advice },
    publisher: new Publisher(gate, baselines, variants, events, counters, copies, packing),
    packing,
    turns: new Turns(runtime.timers, abortWatch),
    background,
    foreground: new FlightMap(),
    forced: new FlightMap(),
    refreshes: new FlightMap(),
    detached: new FlightMap(),
    abortWatch,
    aborts: new Set(),
    arrivals: { next: () => (arrivals += 1) },
    holder,
  };
}
