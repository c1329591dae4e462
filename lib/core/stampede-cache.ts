import {
  resolveCacheOptions,
  type CacheOptions,
  type CacheParts,
  type ResolvedCacheOptions,
} from './cache-options.js';
import { assemble } from './assemble.js';
import { answerMany, bypassMany, Pace, type ManyOrder } from './batch/index.js';
import {
  Call,
  NOT_FOUND,
  PlainCalls,
  serveNear,
  UNSTORED,
  type Answer,
  type Together,
} from './call/index.js';
import { Changes } from './changes/index.js';
import type { EventListener, StampedeCacheStats } from './events/index.js';
import { ReentrantLoadError } from './errors.js';
import { Refresher, type Engine } from './flight/index.js';
import { Reachability } from './gate/index.js';
import { isInside, type LoadContext } from './load/index.js';
import { bypassContext } from './load/bypass-context.js';
import { PLAIN_CALL } from './policy/index.js';
import type { Cancel } from './ports.js';
import type { Request } from './request.js';
import type { Signal } from './store.js';
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
  readonly changes: Changes;
  private readonly options: ResolvedCacheOptions;
  private readonly engine: Engine;
  private readonly refresher: Refresher;
  private readonly stopWatching: Cancel;
  private readonly reachability: Reachability;
  private readonly plain: PlainCalls;
  private readonly pace = new Pace();
  private closing: Promise<void> | undefined;

  constructor(options: CacheOptions, parts: CacheParts) {
    this.options = resolveCacheOptions(options);
    this.reachability = new Reachability((state, reason) => this.announce(state, reason));
    this.engine = assemble(this.options, parts, this.reachability);
    this.refresher = new Refresher(this.engine);
    this.plain = new PlainCalls(this.engine, this.refresher);
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
  answer(request: Request): Promise<Answer> {
    return this.isPlain(request) ? this.plain.answer(request, itself) : this.answerAny(request);
  }

  /** The same for who wants the value alone: a promise less. */
  value(request: Request): Promise<unknown> {
    return this.isPlain(request)
      ? this.plain.answer(request, valueOf)
      : this.answerAny(request).then(valueOf);
  }

  /**
   * The value for this call and those of its turn that {@link join}. Undefined: each has to ask for itself.
   * @param onRead called once nobody can join any more
   */
  together(request: Request, onRead: () => void): Together | undefined {
    const { policy, call } = request;
    if (!policy.shared || call !== PLAIN_CALL || policy.coordinate === 'none') return undefined;
    // It is asked for each caller, in the caller's own context, and its value is nobody else's.
    if (policy.fallback !== undefined) return undefined;
    return this.isPlain(request) ? this.plain.together(request, onRead) : undefined;
  }

  /** The value for one more call like the one that began it, made without options. Undefined: it has to ask for itself. */
  join(together: Together): Promise<unknown> | undefined {
    if (this.closing !== undefined || this.requests.isAround || this.engine.chain.current() !== undefined)
      return undefined;
    return together.join();
  }

  /** Nothing needs to be looked at before its read: most calls are so. */
  private isPlain(request: Pick<Request, 'call' | 'policy' | 'batch'>): boolean {
    const { call, policy, batch } = request;
    if (call.signal !== undefined || batch !== undefined || policy.mayExist !== undefined) return false;
    return !this.goesStraight(request) && this.engine.chain.current() === undefined;
  }

  private async answerAny(request: Request): Promise<Answer> {
    if (this.goesStraight(request)) return this.bypass(request);
    const { key, policy, call } = request;
    call.signal?.throwIfAborted();
    const inside = this.engine.chain.current();
    if (isInside(inside, key.id)) {
      throw new ReentrantLoadError(
        `${policy.where}: the load of ${key.id} calls itself. Load the inner value without the cache.`,
      );
    }
    const absent = policy.mayExist !== undefined && !(await this.mayExist(request, policy.mayExist));
    const turn = absent ? undefined : request.batch?.arrive();
    if (turn) await turn.then(() => call.signal?.throwIfAborted());
    if (!absent) return new Call(this.engine, this.refresher, request, inside).answer();
    this.engine.counters.outcomes.negative += 1;
    return NOT_FOUND;
  }

  /**
   * The answer of a copy that this process keeps, at once. Undefined: {@link answer} has to be asked.
   * @throws a stored error
   */
  near(request: Request): Answer | undefined {
    if (this.engine.copies === undefined || this.goesStraight(request)) return undefined;
    const answer = serveNear(this.engine, this.refresher, request);
    if (answer) this.engine.counters.outcomes[answer.outcome] += 1;
    return answer;
  }

  /** Answers a call for many ids: those that are there, by id. @throws LoadManyError where some could not be had */
  async answerMany(order: ManyOrder): Promise<Map<unknown, unknown>> {
    if (this.goesStraight(order)) return bypassMany(this.engine, order);
    const answer = (request: Request): Answer | Promise<Answer> => this.near(request) ?? this.answer(request);
    const plain = this.isPlain(order) && !order.call.fresh ? this.plain : undefined;
    return answerMany(this.engine, this.pace, order, plain, answer);
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
    const l1 = this.engine.copies?.stats ?? NO_COPIES;
    return { ...structuredClone(counters), active, pools: guard.byPool, l1 };
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
    if (engine.copies?.heed(signal) === true) this.tellOfFlush();
    if (signal.kind === 'epoch') engine.epochs.learn(signal.scope, signal.epoch);
  }

  private tellOfFlush(): void {
    const { events, gate } = this.engine;
    if (events.active) events.emit({ type: 'l1.flush', key: '', name: '', at: gate.store.now() });
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

  private goesStraight({ call }: Pick<Request, 'call'>): boolean {
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

const itself = (answer: Answer): Answer => answer;
const valueOf = ({ value }: Answer): unknown => value;

const NO_COPIES = { entries: 0, bytes: 0, hits: 0, flushes: 0 } as const;
