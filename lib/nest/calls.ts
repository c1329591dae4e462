import type { EntryInfo } from '../core/entries.js';
import { NO_KEY, type EntryKey, type Key } from '../core/keys/index.js';
import type { Answer } from '../core/call/index.js';
import type { Entry } from '../core/outcome.js';
import type { AnyPolicy, CallOptions, ResolvedCall } from '../core/policy/index.js';
import type { Loader, Request } from '../core/request.js';
import type { CachedMethod } from './cached/cached-method.js';
import type { CachedMethods } from './cached/cached-methods.js';
import type { CachedDeclaration } from './cached/declaration.js';
import { runInLoadOf } from './current-load.js';
import type { CachedHandle } from './interfaces/cached-handle.interface.js';
import type { ManagedCache } from './managed-cache.js';
import { MethodEntries } from './method-entries.js';
import type { Routes } from './route/routes.js';

/** Calls without a method have no name. */
const UNNAMED = { name: '' } as const;
const WHERE = 'StampedeCacheService';
/** A reader needs no ttl; the module's other defaults stand. */
const READING: AnyPolicy = { ttl: 0 };

const nothing = (): undefined => undefined;

/** Turns what users call into requests of the engine. */
export class Calls {
  constructor(
    readonly cache: ManagedCache,
    readonly routes: Routes,
  ) {}

  async load(
    key: Key,
    load: Loader,
    policy: AnyPolicy | undefined,
    options: CallOptions | undefined,
  ): Promise<Answer> {
    const { requests } = this.cache.core;
    const call = requests.call(options);
    const resolved = requests.policy(policy, WHERE);
    const base = { name: '', policy: resolved, args: partsOf(key) };
    if (this.cache.goesStraight(call)) {
      return this.cache.core.answer({ ...base, ...straight(call), load });
    }
    const entryKey = requests.keyOf(UNNAMED, requests.vary(call, resolved, WHERE), key, WHERE);
    const opening = this.cache.ready();
    if (opening) await opening;
    return this.cache.core.answer({ ...base, key: entryKey, call, load: this.scoped(load) });
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
    const base = { name: method.name, version: method.version, policy: method.policy, args };
    const warn = (message: string): void => this.cache.warn(message);
    if (this.cache.goesStraight(call) || !method.applies(host, args)) {
      const run = (): unknown => method.run(host, args, warn);
      return (await core.answer({ ...base, ...straight(call), load: run })).value;
    }
    const key = method.keyOf(host, args, call);
    const load = this.scoped(() => method.load(host, args, warn));
    const opening = this.cache.ready();
    if (opening) await opening;
    return (await core.answer({ ...base, key, call, load })).value;
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

  private scoped(load: Loader): Loader {
    const { core } = this.cache;
    return (context) => runInLoadOf(core, () => load(context));
  }
}

/** What goes past the cache has no key: it might not even be encodable. */
function straight(call: ResolvedCall): { key: EntryKey; call: ResolvedCall } {
  return { key: NO_KEY, call: { ...call, bypass: true } };
}

function partsOf(key: Key): readonly unknown[] {
  return Array.isArray(key) ? (key as readonly unknown[]) : [key];
}
