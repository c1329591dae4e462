import {
  resolveCacheOptions,
  type CacheOptions,
  type CacheParts,
  type ResolvedCacheOptions,
} from './cache-options.js';
import { Call, type Answer } from './call/index.js';
import { Advice } from './advice.js';
import { newCounters, EventBus, type EventListener, type StampedeCacheStats } from './events/index.js';
import { ErrorTransport } from './entry/index.js';
import { ReentrantLoadError } from './errors.js';
import { Background, FlightMap, Refresher, type Engine } from './flight/index.js';
import { StoreGate, TickReads } from './gate/index.js';
import { LoadGuard } from './guard/index.js';
import { isInside, LoadChain, type LoadContext } from './load/index.js';
import { bypassContext } from './load/bypass-context.js';
import type { Cancel } from './ports.js';
import { Publisher } from './publish/index.js';
import type { Request } from './request.js';
import { Requests } from './requests.js';
import { show } from './show.js';
import { within } from './within.js';
import { Entries } from './entries.js';

/** How long `close` waits for loads under way, ms. */
const DRAIN = 5_000;
/** How long it then waits for their leases to be given back, ms. */
const LAST_WORDS = 1_000;

/** The cache itself, without any framework: one engine over one store. */
export class StampedeCache {
  readonly requests: Requests;
  readonly entries: Entries;
  private readonly options: ResolvedCacheOptions;
  private readonly engine: Engine;
  private readonly refresher: Refresher;
  private closing: Promise<void> | undefined;

  constructor(options: CacheOptions, parts: CacheParts) {
    this.options = resolveCacheOptions(options);
    this.engine = assemble(this.options, parts);
    this.refresher = new Refresher(this.engine);
    this.requests = new Requests(this.options, this.engine.planning.advice, () =>
      this.engine.chain.current(),
    );
    this.entries = new Entries(this.engine, this.refresher);
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
    const active = { flights: foreground.size + forced.size, refreshes: refreshes.size, ...guard.load };
    return { ...structuredClone(counters), active };
  }

  listen(listener: EventListener): Cancel {
    return this.engine.events.listen(listener);
  }

  /** Reports a change of the store's connection to listeners. */
  report(state: 'up' | 'down', reason: string): void {
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
    await this.engine.gate.store.close();
  }

  /** A filter that fails has not said that the value can't exist. */
  private async mayExist(
    { policy, args, call }: Request,
    asks: NonNullable<Request['policy']['mayExist']>,
  ): Promise<boolean> {
    try {
      return await within(this.engine.runtime.timers, policy.loadTimeout, call.signal, async () =>
        asks(...args),
      );
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
    return { value, outcome: 'bypassed', age: 0, staleFor: 0 };
  }
}

const NOT_FOUND: Answer = { value: null, outcome: 'negative', age: 0, staleFor: 0 };

function assemble(options: ResolvedCacheOptions, parts: CacheParts): Engine {
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
  );
  let arrivals = 0;
  return {
    runtime,
    gate,
    reads: new TickReads(gate, runtime),
    guard: new LoadGuard(options.loads, runtime),
    chain: new LoadChain(),
    events,
    counters,
    errors,
    planning: { random: runtime.random, errors, maxValueBytes: options.maxValueBytes, advice },
    publisher: new Publisher(gate, events, counters),
    background: new Background(runtime),
    foreground: new FlightMap(),
    forced: new FlightMap(),
    refreshes: new FlightMap(),
    detached: new FlightMap(),
    aborts: new Set(),
    arrivals: { next: () => (arrivals += 1) },
    holder,
  };
}
