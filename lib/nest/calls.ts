import type { EntryInfo } from '../core/entries.js';
import { ConfigurationError } from '../core/errors.js';
import type { EntryKey, Key } from '../core/keys/index.js';
import type { Entry } from '../core/outcome.js';
import type { AnyPolicy, CallOptions, ResolvedCall } from '../core/policy/index.js';
import type { Loader, Request } from '../core/request.js';
import type { CachedMethod } from './cached/cached-method.js';
import type { CachedMethods } from './cached/cached-methods.js';
import type { CachedDeclaration } from './cached/declaration.js';
import { runInLoadOf } from './current-load.js';
import type { CachedHandle } from './interfaces/cached-handle.interface.js';
import type { ManagedCache } from './managed-cache.js';

/** Calls without a method have no name. */
const UNNAMED = { name: '' } as const;
const WHERE = 'StampedeCacheService';
/** A reader needs no ttl; the module's other defaults stand. */
const READING: AnyPolicy = { ttl: 0 };
/** What goes past the cache has no key: it might not even be encodable. */
const NO_KEY: EntryKey = { id: '', digest: '' };

const nothing = (): undefined => undefined;

/** Turns what users call into requests of the engine. */
export class Calls {
  constructor(private readonly cache: ManagedCache) {}

  async load(
    key: Key,
    load: Loader,
    policy: AnyPolicy | undefined,
    options: CallOptions | undefined,
  ): Promise<Entry<unknown>> {
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
  ): Promise<unknown> {
    const { core } = this.cache;
    const method = methods.resolve(declaration, Object.getPrototypeOf(host) as object);
    if (method.isCovered) return method.run(host, args, (message) => this.cache.warn(message));
    const call = core.requests.call(undefined);
    const base = { name: method.name, policy: method.policy, args };
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
    await core.entries.set(
      { ...this.request(key, policy, core.requests.call(undefined)), policy: resolved },
      value,
    );
  }

  async invalidate(keys: readonly Key[]): Promise<void> {
    checkKeys(keys);
    const { core } = this.cache;
    if (!core.enabled) return;
    const call = core.requests.call(undefined);
    const requests = keys.map((key) => this.request(key, undefined, call));
    await this.cache.ready();
    await core.entries.invalidate(requests);
  }

  async inspect(key: Key): Promise<EntryInfo | null> {
    const { core } = this.cache;
    if (!core.enabled) return null;
    await this.cache.ready();
    return core.entries.inspect(this.request(key, undefined, core.requests.call(undefined)));
  }

  /** The entries of one method. `instance` is what its key function sees as `this`. */
  handleOf(method: CachedMethod, instance: object | undefined): CachedHandle<readonly unknown[], unknown> {
    const { cache } = this;
    const { core } = cache;
    const about = (args: readonly unknown[]): Request => {
      const call = core.requests.call(undefined);
      const { name, policy } = method;
      return { key: method.keyOf(instance, args, call), name, policy, call, args, load: nothing };
    };
    return {
      async get(...args) {
        if (cache.goesStraight(core.requests.call(undefined))) return undefined;
        const request = about(args);
        await cache.ready();
        const entry = await core.entries.read(request);
        return entry === undefined || entry.outcome === 'stale' ? undefined : entry.value;
      },
      async set(args, value) {
        if (!Array.isArray(args)) {
          throw new ConfigurationError(
            `${method.where}: set() takes the arguments as a list, then the value: set([42], product).`,
          );
        }
        if (!core.enabled) return;
        const request = about(args);
        await cache.ready();
        await core.entries.set(request, value);
      },
      async invalidate(...args) {
        checkKeys(args);
        if (!core.enabled) return;
        const request = about(args);
        await cache.ready();
        await core.entries.invalidate([request]);
      },
      async inspect(...args) {
        if (!core.enabled) return null;
        const request = about(args);
        await cache.ready();
        return core.entries.inspect(request);
      },
      key: (...args) => about(args).key.id,
    };
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

function straight(call: ResolvedCall): { key: EntryKey; call: ResolvedCall } {
  return { key: NO_KEY, call: { ...call, bypass: true } };
}

function partsOf(key: Key): readonly unknown[] {
  return Array.isArray(key) ? (key as readonly unknown[]) : [key];
}

/** A `{ holdOff }` at the end would pass for a key. */
function checkKeys(keys: readonly unknown[]): void {
  const last: unknown = keys.at(-1);
  if (typeof last !== 'object' || last === null || !('holdOff' in last)) return;
  throw new ConfigurationError('invalidate(): holdOff is not supported in this version. Remove it.');
}
