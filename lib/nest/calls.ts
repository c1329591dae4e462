import type { EntryInfo } from '../core/entries.js';
import { ConfigurationError } from '../core/errors.js';
import type { Key } from '../core/keys/index.js';
import type { Answer, Together } from '../core/call/index.js';
import { nothing } from '../core/nothing.js';
import type { Entry } from '../core/outcome.js';
import type { AnyPolicy, CallOptions, ResolvedCall } from '../core/policy/index.js';
import type { Loader, Request } from '../core/request.js';
import { show } from '../core/show.js';
import type { CachedMethod } from './cached/cached-method.js';
import type { CachedMethods } from './cached/cached-methods.js';
import type { CachedDeclaration } from './cached/declaration.js';
import { KeyRequest, MethodRequest, partsOf, straight } from './call-requests.js';
import type { CachedHandle } from './interfaces/cached-handle.interface.js';
import type { ManagedCache } from './managed-cache.js';
import { MethodEntries } from './method-entries.js';
import type { Routes } from './route/routes.js';

/** Calls without a method have no name. */
export const UNNAMED = { name: '' } as const;
const WHERE = 'StampedeCacheService';
/** A reader needs no ttl; the module's other defaults stand. */
const READING: AnyPolicy = { ttl: 0 };

/** A call by key, and what those who make the same one share. */
interface LastTogether {
  readonly key: Key;
  readonly policy: AnyPolicy | undefined;
  readonly request: Request;
  readonly together: Together;
}

/** Turns what users call into requests of the engine. */
export class Calls {
  /** What callers of this turn share. */
  private last: LastTogether | undefined;

  constructor(
    readonly cache: ManagedCache,
    readonly routes: Routes,
  ) {}

  /**
   * What `load` or an entry gives. Never throws: it rejects.
   * Of a turn's callers of one value that all share, those after the first get its promise: nothing else is done for them.
   */
  value(
    key: Key,
    load: Loader,
    policy: AnyPolicy | undefined,
    options: CallOptions | undefined,
  ): Promise<unknown> {
    const { last } = this;
    if (last !== undefined && last.key === key && last.policy === policy && options === undefined) {
      const value = typeof load === 'function' ? this.cache.core.join(last.together) : undefined;
      if (value !== undefined) return value;
    }
    try {
      const request = this.loadRequest(key, load, policy, options);
      return (
        this.atOnce(request) ?? this.togetherWith(key, policy, request) ?? this.cache.core.value(request)
      );
    } catch (error) {
      return Promise.reject(error as Error); // as it was thrown
    }
  }

  /** The same with how the value came. */
  async load(
    key: Key,
    load: Loader,
    policy: AnyPolicy | undefined,
    options: CallOptions | undefined,
  ): Promise<Answer> {
    return this.answer(this.loadRequest(key, load, policy, options));
  }

  /** @throws ConfigurationError for what can't load anything */
  private loadRequest(
    key: Key,
    load: Loader,
    policy: AnyPolicy | undefined,
    options: CallOptions | undefined,
  ): Request {
    if (typeof load !== 'function') {
      throw new ConfigurationError(
        `getOrLoad takes a function that loads the value, received ${show(load)}.`,
      );
    }
    const { requests } = this.cache.core;
    const call = requests.call(options);
    const resolved = requests.policy(policy, WHERE);
    if (this.cache.goesStraight(call)) {
      return { name: '', policy: resolved, args: partsOf(key), ...straight(call), load };
    }
    const entryKey = requests.keyOf(UNNAMED, requests.vary(call, resolved, WHERE), key, WHERE);
    return new KeyRequest(this.cache.core, key, entryKey, resolved, call, load);
  }

  /** The first of a turn whose policy lets all share one value. Undefined: it asks for itself. */
  private togetherWith(
    key: Key,
    policy: AnyPolicy | undefined,
    request: Request,
  ): Promise<unknown> | undefined {
    const { cache } = this;
    // What is asked anew for each call might answer otherwise.
    if (!request.policy.shared || typeof key === 'object' || cache.options.bypass !== undefined)
      return undefined;
    if (cache.core.requests.mayVary(request.policy)) return undefined;
    const together = cache.core.together(request, () => {
      if (this.last?.request === request) this.last = undefined;
    });
    if (together === undefined) return undefined;
    this.last = { key, policy, request, together };
    return together.value;
  }

  /** The value where no read is due now: past the cache, behind its opening, or of a copy in this process. @throws a stored error */
  private atOnce(request: Request): Promise<unknown> | undefined {
    const { core } = this.cache;
    if (request.call.bypass) return core.value(request);
    const opening = this.cache.ready();
    if (opening) return opening.then(() => core.value(request));
    const near = core.near(request);
    return near && Promise.resolve(near.value);
  }

  private answer(request: Request): Answer | Promise<Answer> {
    const { core } = this.cache;
    if (request.call.bypass) return core.answer(request);
    const opening = this.cache.ready();
    if (opening) return opening.then(() => core.answer(request));
    return core.near(request) ?? core.answer(request);
  }

  /** What a cached method gives. Never throws: it rejects. */
  method(
    methods: CachedMethods,
    declaration: CachedDeclaration,
    host: object,
    args: readonly unknown[],
    options?: CallOptions,
  ): Promise<unknown> {
    try {
      const { core } = this.cache;
      const method = methods.resolve(declaration, Object.getPrototypeOf(host) as object);
      if (method.isCovered || this.routes.scope.standsAside(declaration, host, args))
        return this.runPast(method, host, args);
      const call = core.requests.call(options);
      if (this.cache.goesStraight(call) || !method.applies(host, args)) {
        const load = (): unknown => this.runPast(method, host, args);
        const base = { name: method.name, version: method.version, policy: method.policy, args };
        return core.value({ ...base, ...straight(call), load });
      }
      const key = method.keyOf(host, args, call);
      const request = new MethodRequest(this.cache, method, host, args, key, call);
      return this.atOnce(request) ?? core.value(request);
    } catch (error) {
      return Promise.reject(error as Error); // as it was thrown
    }
  }

  private async runPast(method: CachedMethod, host: object, args: readonly unknown[]): Promise<unknown> {
    return method.run(host, args, (message) => this.cache.warn(message));
  }

  async read(key: Key, policy: AnyPolicy | undefined): Promise<Entry<unknown> | undefined> {
    const call = this.cache.core.requests.call(undefined);
    if (this.cache.goesStraight(call)) return undefined;
    await this.cache.ready();
    return this.cache.core.entries.read(this.request(key, policy, call));
  }

  async set(key: Key, value: unknown, policy: AnyPolicy | undefined): Promise<void> {
    const { core } = this.cache;
    if (!core.enabled) return;
    const resolved = core.requests.policy(policy, WHERE);
    await this.cache.ready();
    await core.changes.set(
      { ...this.request(key, policy, core.requests.call(undefined)), policy: resolved },
      value,
    );
  }

  async invalidate(keys: readonly Key[], holdOffMs: number): Promise<void> {
    await this.change(keys, (requests) => this.cache.core.changes.invalidate(requests, holdOffMs));
  }

  async expire(keys: readonly Key[]): Promise<void> {
    await this.change(keys, (requests) => this.cache.core.changes.expire(requests));
  }

  async invalidateTags(tags: readonly string[], holdOffMs: number): Promise<void> {
    const { core } = this.cache;
    if (!core.enabled || tags.length === 0) return;
    await this.cache.ready();
    await core.changes.invalidateTags(tags, holdOffMs);
  }

  async expireTags(tags: readonly string[]): Promise<void> {
    const { core } = this.cache;
    if (!core.enabled || tags.length === 0) return;
    await this.cache.ready();
    await core.changes.expireTags(tags);
  }

  async clear(): Promise<void> {
    const { core } = this.cache;
    if (!core.enabled) return;
    await this.cache.ready();
    await core.changes.clear();
  }

  async inspect(key: Key): Promise<EntryInfo | null> {
    const { core } = this.cache;
    if (!core.enabled) return null;
    await this.cache.ready();
    return core.entries.inspect(this.request(key, undefined, core.requests.call(undefined)));
  }

  /** The entries of one method. `instance` is what its key function sees as `this`. */
  entriesOf(method: CachedMethod, instance: object | undefined): MethodEntries {
    return new MethodEntries(this.cache, this.routes, method, instance);
  }

  /** The same for users. `methods` is where the method was found. */
  handleOf(
    methods: CachedMethods,
    method: CachedMethod,
    instance: object | undefined,
  ): CachedHandle<readonly unknown[], unknown> {
    if (method.declaration.decorator !== undefined) return this.entriesOf(method, instance).routeHandle();
    return this.entriesOf(method, instance).handle(({ declaration }, host, args, options) =>
      this.method(methods, declaration, host, args, options),
    );
  }

  warn(message: string): void {
    this.cache.warn(message);
  }

  /** Says what goes on happening at most once a minute per place. */
  warnSometimes(where: string, message: string): void {
    this.cache.advice.sometimes(where, () => message);
  }

  private async change(
    keys: readonly Key[],
    apply: (requests: readonly Request[]) => Promise<void>,
  ): Promise<void> {
    const { core } = this.cache;
    if (!core.enabled || keys.length === 0) return;
    const call = core.requests.call(undefined);
    const requests = keys.map((key) => this.request(key, undefined, call));
    await this.cache.ready();
    await apply(requests);
  }

  /** A request about an entry, without a load of its own. */
  private request(key: Key, given: AnyPolicy | undefined, call: ResolvedCall): Request {
    const { requests } = this.cache.core;
    const policy = requests.policy(given ?? READING, WHERE);
    const entryKey = requests.keyOf(UNNAMED, requests.vary(call, policy, WHERE), key, WHERE);
    return { key: entryKey, name: '', policy, call, args: partsOf(key), load: nothing };
  }
}
