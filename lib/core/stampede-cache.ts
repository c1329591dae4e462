import {
  resolveCacheOptions,
  type CacheOptions,
  type CacheParts,
  type ResolvedCacheOptions,
} from './cache-options.js';
import { AbortWatch } from './abort-watch.js';
import { Advice } from './advice.js';
import { Call, UNSTORED, type Answer } from './call/index.js';
import { Changes } from './changes/index.js';
import { Baselines, Distrust, Epochs, TagBook, TickReads, Vetting } from './coherence/index.js';
import { newCounters, EventBus, type EventListener, type StampedeCacheStats } from './events/index.js';
import { ErrorTransport } from './entry/index.js';
import { ReentrantLoadError } from './errors.js';
import { Background, FlightMap, Leaseless, Refresher, type Engine } from './flight/index.js';
import { Reachability, StoreGate } from './gate/index.js';
import { LoadGuard } from './guard/index.js';
import { isInside, LoadChain, type LoadContext } from './load/index.js';
import { bypassContext } from './load/bypass-context.js';
import type { Cancel } from './ports.js';
import { Publisher } from './publish/index.js';
import type { Request } from './request.js';
import type { Signal } from './store.js';
import { Requests } from './requests.js';
import { show } from './show.js';
import { Variants } from './variants.js';
import { within } from './within.js';
import { Deferrals } from './deferral/index.js';
import { Entries } from './entries.js';

/** How long `close` waits for loads under way, ms. */
const DRAIN = 5_000;
/** How long it then waits for their leases to be given back, ms. */
const LAST_WORDS = 1_000;

/** The cache itself, without any framework: one engine over one store. */
export class StampedeCache {
  readonly requests: Requests;
  readonly entries: Entries;
  readonly changes: Changes;
  private readonly options: ResolvedCacheOptions;
  private readonly engine: Engine;
  private readonly refresher: Refresher;
  private readonly stopWatching: Cancel;
  private readonly reachability: Reachability;
  private closing: Promise<void> | undefined;

  constructor(options: CacheOptions, parts: CacheParts) {
    this.options = resolveCacheOptions(options);
    this.reachability = new Reachability((state, reason) => this.announce(state, reason));
    this.engine = assemble(this.options, parts, this.reachability);
    this.refresher = new Refresher(this.engine);
    this.requests = new Requests(this.options, this.engine.planning.advice, () =>
      this.engine.chain.current(),
    );
    this.entries = new Entries(this.engine);
    this.changes = new Changes(this.engine, this.refresher);
    this.stopWatching = parts.store.watch((signal) => this.heed(signal));
  }

  /** Waits for the store to be usable, within the store's own bound. */
  async open(): Promise<void> {
    await this.engine.gate.store.open();
  }

  /** Answers one call. Rejects with the loader's error, or with one of this package's. */
  async answer(request: Request): Promise<Answer> {
    if (this.goesStraight(request)) return this.bypass(request);
    request.call.signal?.throwIfAborted();
    const { key, policy } = request;
    const inside = this.engine.chain.current();
    if (isInside(inside, key.id)) {
      throw new ReentrantLoadError(
        `${policy.where}: the load of ${key.id} calls itself. Load the inner value without the cache.`,
      );
    }
    const absent = policy.mayExist !== undefined && !(await this.mayExist(request, policy.mayExist));
    const answer = absent ? NOT_FOUND : await new Call(this.engine, this.refresher, request, inside).answer();
    this.engine.counters.outcomes[answer.outcome] += 1;
    return answer;
  }

  /** The load this call is made in. */
  currentLoad(): LoadContext | undefined {
    return this.engine.chain.current()?.context;
  }

  get enabled(): boolean {
    return this.options.enabled;
  }

  stats(): StampedeCacheStats {
    const { counters, guard, foreground, forced, refreshes } = this.engine;
    const active = {
      flights: foreground.size + forced.size,
      refreshes: refreshes.size,
      unsettled: this.changes.unsettled.size,
      ...guard.load,
    };
    return { ...structuredClone(counters), active, pools: guard.byPool };
  }

  listen(listener: EventListener): Cancel {
    return this.engine.events.listen(listener);
  }

  /** The store's connection became usable or ceased to be. */
  report(state: 'up' | 'down', reason: string): void {
    if (state === 'up') this.engine.gate.renewed();
    this.reachability.linked(state, reason);
  }

  private announce(state: 'up' | 'down', reason: string): void {
    if (state === 'up') this.changes.unsettled.retryNow();
    if (!this.engine.events.active) return;
    const about = { key: '', name: '', at: this.engine.gate.store.now() } as const;
    this.engine.events.emit(
      state === 'up' ? { type: 'redis.up', ...about } : { type: 'redis.down', ...about, reason },
    );
  }

  /** No refresh starts any more; loads under way go on. */
  quiesce(): void {
    this.refresher.stop();
  }

  /** Waits, within bounds, for loads under way, then gives everything back. Calls made later go straight to the origin. */
  close(): Promise<void> {
    this.closing ??= this.shutDown();
    return this.closing;
  }

  private async shutDown(): Promise<void> {
    this.quiesce();
    const { background, aborts } = this.engine;
    await background.drain(DRAIN);
    for (const abort of aborts) abort(new DOMException('The application shuts down.', 'AbortError'));
    await background.drain(LAST_WORDS);
    await this.changes.unsettled.close();
    this.stopWatching();
    this.engine.gate.close();
    await this.engine.gate.store.close();
    // An async context that nobody uses any more would still cost every await of the process.
    this.engine.deferrals.close();
    this.engine.chain.close();
    this.requests.close();
  }

  /** What another process changed, or this one. */
  private heed(signal: Signal): void {
    const { engine } = this;
    // Loads under way stay joined: what they depend on is looked at when they end.
    engine.tags.heed(signal);
    if (signal.kind === 'epoch') engine.epochs.learn(signal.scope, signal.epoch);
  }

  /** A filter that fails has not said that the value can't exist. */
  private async mayExist(
    { policy, args, call }: Request,
    asks: NonNullable<Request['policy']['mayExist']>,
  ): Promise<boolean> {
    const { abortWatch, runtime } = this.engine;
    const { timers } = runtime;
    try {
      return await within(timers, policy.loadTimeout, abortWatch, call.signal, async () => asks(...args));
    } catch (error) {
      call.signal?.throwIfAborted();
      this.engine.planning.advice.sometimes(
        `${policy.where} mayExist`,
        () => `${policy.where}: mayExist failed with ${show(error)}.`,
      );
      return true;
    }
  }

  private goesStraight({ call }: Request): boolean {
    return (
      !this.options.enabled || call.bypass || this.closing !== undefined || this.options.bypass?.() === true
    );
  }

  private async bypass(request: Request): Promise<Answer> {
    this.engine.counters.outcomes.bypassed += 1;
    const value: unknown = await request.load(bypassContext(request) as never);
    return { value, outcome: 'bypassed', ...UNSTORED };
  }
}

const NOT_FOUND: Answer = { value: null, outcome: 'negative', ...UNSTORED };

function assemble(options: ResolvedCacheOptions, parts: CacheParts, reachability: Reachability): Engine {
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
  let arrivals = 0;
  return {
    runtime,
    gate,
    reads: new TickReads(gate, new Vetting(epochs, tags, distrust), runtime),
    epochs,
    tags,
    baselines,
    distrust,
    variants,
    deferrals: new Deferrals(),
    guard: new LoadGuard(options.loads, runtime),
    leaseless: new Leaseless(runtime.clock),
    chain: new LoadChain(),
    events,
    counters,
    errors,
    planning: { random: runtime.random, errors, maxValueBytes: options.maxValueBytes, advice },
    publisher: new Publisher(gate, baselines, variants, events, counters),
    background,
    foreground: new FlightMap(),
    forced: new FlightMap(),
    refreshes: new FlightMap(),
    detached: new FlightMap(),
    abortWatch: new AbortWatch(),
    aborts: new Set(),
    arrivals: { next: () => (arrivals += 1) },
    holder,
  };
}
