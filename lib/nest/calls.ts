import type { EntryInfo } from '../core/entries.js';
import { ConfigurationError } from '../core/errors.js';
import { NO_KEY, type EntryKey, type Key } from '../core/keys/index.js';
import type { Answer } from '../core/call/index.js';
import { nothing } from '../core/nothing.js';
import type { Entry } from '../core/outcome.js';
import type { AnyPolicy, CallOptions, ResolvedCall } from '../core/policy/index.js';
import type { LoadContext } from '../core/load/index.js';
import type { Loader, Request } from '../core/request.js';
import { show } from '../core/show.js';
import type { StampedeCache } from '../core/stampede-cache.js';
import type { CachedMethod } from './cached/cached-method.js';
import type { CachedMethods } from './cached/cached-methods.js';
import type { CachedDeclaration } from './cached/declaration.js';
import { runInLoadOf } from './current-load.js';
import type { CachedHandle } from './interfaces/cached-handle.interface.js';
import type { ManagedCache } from './managed-cache.js';
import { MethodEntries } from './method-entries.js';
import type { Routes } from './route/routes.js';

/** Calls without a method have no name. */
export const UNNAMED = { name: '' } as const;
const WHERE = 'StampedeCacheService';
/** A reader needs no ttl; the module's other defaults stand. */
const READING: AnyPolicy = { ttl: 0 };

/** Turns what users call into requests of the engine. */
export class Calls {
  constructor(
    readonly cache: ManagedCache,
    readonly routes: Routes,
  ) {}

  /**
   * No Promise where this process has the answer: that is what most of its callers come for.
   * @throws ConfigurationError for what can't load anything
   */
  load(
    key: Key,
    load: Loader,
    policy: AnyPolicy | undefined,
    options: CallOptions | undefined,
  ): Answer | Promise<Answer> {
    if (typeof load !== 'function') {
      throw new ConfigurationError(
        `getOrLoad takes a function that loads the value, received ${show(load)}.`,
      );
    }
    const { requests } = this.cache.core;
    const call = requests.call(options);
    const resolved = requests.policy(policy, WHERE);
    if (this.cache.goesStraight(call)) {
      const base = { name: '', policy: resolved, args: partsOf(key) };
      return this.cache.core.answer({ ...base, ...straight(call), load });
    }
    const entryKey = requests.keyOf(UNNAMED, requests.vary(call, resolved, WHERE), key, WHERE);
    return this.answer(new KeyRequest(this.cache.core, key, entryKey, resolved, call, load));
  }

  private answer(request: Request): Answer | Promise<Answer> {
    const { cache } = this;
    const opening = cache.ready();
    if (opening) return opening.then(() => cache.core.answer(request));
    return cache.core.near(request) ?? cache.core.answer(request);
  }

  async method(
    methods: CachedMethods,
    declaration: CachedDeclaration,
    host: object,
    args: readonly unknown[],
    options?: CallOptions,
  ): Promise<unknown> {
    const { core } = this.cache;
    const method = methods.resolve(declaration, Object.getPrototypeOf(host) as object);
    if (method.isCovered || this.routes.scope.standsAside(declaration, host, args))
      return method.run(host, args, (message) => this.cache.warn(message));
    const call = core.requests.call(options);
    if (this.cache.goesStraight(call) || !method.applies(host, args)) {
      const run = (): unknown => method.run(host, args, (message) => this.cache.warn(message));
      const base = { name: method.name, version: method.version, policy: method.policy, args };
      return (await core.answer({ ...base, ...straight(call), load: run })).value;
    }
    const key = method.keyOf(host, args, call);
    const answer = this.answer(new MethodRequest(this.cache, method, host, args, key, call));
    return (answer instanceof Promise ? await answer : answer).value;
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

/** A call by key. A class of its own, whose members are made for whoever asks: most calls are hits. */
class KeyRequest implements Request {
  readonly name = '';

  constructor(
    private readonly core: StampedeCache,
    private readonly given: Key,
    readonly key: EntryKey,
    readonly policy: Request['policy'],
    readonly call: ResolvedCall,
    private readonly loader: Loader,
  ) {}

  get args(): readonly unknown[] {
    return partsOf(this.given);
  }

  load(context: LoadContext<never>): unknown {
    return runInLoadOf(this.core, () => this.loader(context));
  }
}

/** A call of a method. */
class MethodRequest implements Request {
  readonly name: string;
  readonly version: string | undefined;
  readonly policy: Request['policy'];

  constructor(
    private readonly cache: ManagedCache,
    private readonly method: CachedMethod,
    private readonly host: object,
    readonly args: readonly unknown[],
    readonly key: EntryKey,
    readonly call: ResolvedCall,
  ) {
    this.name = method.name;
    this.version = method.version;
    this.policy = method.policy;
  }

  load(): unknown {
    const { cache, method, host, args } = this;
    return runInLoadOf(cache.core, () => method.load(host, args, (message) => cache.warn(message)));
  }
}

/** What goes past the cache has no key: it might not even be encodable. */
function straight(call: ResolvedCall): { key: EntryKey; call: ResolvedCall } {
  return { key: NO_KEY, call: { ...call, bypass: true } };
}

/** What the policy's functions get. */
export function partsOf(key: Key): readonly unknown[] {
  return Array.isArray(key) ? (key as readonly unknown[]) : [key];
}
