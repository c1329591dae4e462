import type { EntryInfo } from '../core/entries.js';
import { ConfigurationError } from '../core/errors.js';
import type { KeyPart } from '../core/keys/index.js';
import { nothing } from '../core/nothing.js';
import type { CallOptions } from '../core/policy/index.js';
import type { Request } from '../core/request.js';
import { show } from '../core/show.js';
import type { CachedMethod } from './cached/cached-method.js';
import { refuseHoldOff, takeHoldOff } from './hold-off.js';
import type { CachedHandle } from './interfaces/cached-handle.interface.js';
import type { ManagedCache } from './managed-cache.js';
import type { Reach } from './route/reach.js';
import type { Routes } from './route/routes.js';

/** Calls a method on an instance, as if its user had, with options of this call. */
export type CallMethod = (
  method: CachedMethod,
  instance: object,
  args: readonly unknown[],
  options: CallOptions,
) => Promise<unknown>;

/** The entries of one cached method, by lists of its arguments. */
export class MethodEntries {
  /**
   * @param instance what the key function sees as `this`
   * @param part the `vary` part of every key; undefined: what `vary` says at each call
   */
  constructor(
    private readonly cache: ManagedCache,
    private readonly routes: Routes,
    private readonly method: CachedMethod,
    private readonly instance: object | undefined,
    private readonly part?: KeyPart | false,
  ) {}

  keyOf(args: readonly unknown[]): string {
    return this.about(args).key.id;
  }

  async get(args: readonly unknown[]): Promise<unknown> {
    const { core } = this.cache;
    if (this.cache.goesStraight(core.requests.call(this.options()))) return undefined;
    const request = this.about(args);
    await this.cache.ready();
    const entry = await core.entries.read(request);
    return entry === undefined || entry.outcome === 'stale' ? undefined : entry.value;
  }

  async set(args: readonly unknown[], value: unknown): Promise<void> {
    const { core } = this.cache;
    if (!core.enabled) return;
    const request = this.about(args);
    const responses = this.routes.reachOf(request, this.method);
    await this.cache.ready();
    await Promise.all([core.changes.set(request, value), this.drop(responses, 0)]);
  }

  async invalidate(args: readonly unknown[], holdOffMs: number): Promise<void> {
    const { core } = this.cache;
    if (!core.enabled) return;
    const request = this.about(args);
    const responses = this.routes.reachOf(request, this.method);
    await this.cache.ready();
    await Promise.all([core.changes.invalidate([request], holdOffMs), this.drop(responses, holdOffMs)]);
  }

  async expire(args: readonly unknown[]): Promise<void> {
    const { core } = this.cache;
    if (!core.enabled) return;
    const request = this.about(args);
    const responses = this.routes.reachOf(request, this.method);
    await this.cache.ready();
    await Promise.all([core.changes.expire([request]), this.age(responses)]);
  }

  async inspect(args: readonly unknown[]): Promise<EntryInfo | null> {
    const { core } = this.cache;
    if (!core.enabled) return null;
    const request = this.about(args);
    await this.cache.ready();
    return core.entries.inspect(request);
  }

  /** Every entry of the method, whatever its arguments, `vary` part and version. */
  async clear(): Promise<void> {
    const { core } = this.cache;
    if (!core.enabled) return;
    await this.cache.ready();
    await core.changes.clear(this.method.name);
  }

  /** @throws ConfigurationError where there is no instance to load with, and inside `deferInvalidations` */
  async refresh(args: readonly unknown[], call: CallMethod): Promise<unknown> {
    const { instance, method } = this;
    if (this.cache.core.changes.isDeferring) {
      throw new ConfigurationError(
        `${method.where}: refresh() inside deferInvalidations() would store what is not committed yet. Use expire() there, or call refresh() after it.`,
      );
    }
    if (instance !== undefined) {
      const responses = this.cache.core.enabled ? this.routes.reachOf(this.about(args), method) : undefined;
      const value = await call(method, instance, args, { ...this.options(), fresh: true });
      await this.drop(responses, 0);
      return value;
    }
    const { where, host, declaration } = method;
    throw new ConfigurationError(
      `${where}: refresh() needs the instance to load with, and of(${host.name}, …) knows none: the class is request-scoped or transient, has several instances, or is no provider of this application. Name one: of(instance, ${show(declaration.method)}).`,
    );
  }

  /** @throws ConfigurationError for a part that is undefined */
  varied(part: KeyPart | false): MethodEntries {
    if (part !== undefined)
      return new MethodEntries(this.cache, this.routes, this.method, this.instance, part);
    throw new ConfigurationError(
      `${this.method.where}: vary() of a handle takes a key part, or false for none, received undefined.`,
    );
  }

  /** What users hold. */
  handle(call: CallMethod): CachedHandle<readonly unknown[], unknown> {
    const { where } = this.method;
    return {
      get: (...args) => this.get(args),
      set: async (args, value) => {
        if (Array.isArray(args)) return this.set(args as readonly unknown[], value);
        throw new ConfigurationError(
          `${where}: set() takes the arguments as a list, then the value: set([42], product); received ${show(args)} first.`,
        );
      },
      invalidate: async (...given) => {
        const { items, holdOffMs } = takeHoldOff(given, `${where}: invalidate()`, 0);
        return this.invalidate(items, holdOffMs);
      },
      expire: async (...args) => {
        refuseHoldOff(args, `${where}: expire()`, 'invalidate()');
        return this.expire(args);
      },
      refresh: (...args) => this.refresh(args, call),
      inspect: (...args) => this.inspect(args),
      key: (...args) => this.keyOf(args),
      clear: async (...args: unknown[]) => {
        if (args.length === 0) return this.clear();
        throw new ConfigurationError(
          `${where}: clear() drops all entries of the method and takes no arguments, received ${show(args)}. For one entry there is invalidate().`,
        );
      },
      vary: (part) => this.varied(part).handle(call),
    };
  }

  /** What users hold of a handler whose calls are not cached, only its responses: those have no arguments. */
  routeHandle(): CachedHandle<readonly unknown[], unknown> {
    const { where } = this.method;
    const refuse = (operation: string) => (): never => {
      throw new ConfigurationError(
        `${where}: ${operation}() takes the arguments of a call, and @CachedRoute caches responses to requests. Give it tags and use invalidateTags(), or drop all of them: of(…).clear().`,
      );
    };
    const handle = this.handle(refuse('refresh'));
    const refused = ['get', 'set', 'invalidate', 'expire', 'refresh', 'inspect'] as const;
    // These reject, as they do otherwise.
    const rest = Object.fromEntries(refused.map((operation) => [operation, async () => refuse(operation)()]));
    const rejecting = rest as Record<(typeof refused)[number], () => Promise<never>>;
    return { ...handle, ...rejecting, key: refuse('key'), vary: refuse('vary') };
  }

  /** Responses of a handler that were made by such a call of it. */
  private async drop(responses: Reach | undefined, holdOffMs: number): Promise<void> {
    if (responses === undefined) return;
    const { changes } = this.cache.core;
    const { requests, tag } = responses;
    await Promise.all([changes.invalidate(requests, holdOffMs), changes.invalidateTags([tag], holdOffMs)]);
  }

  private async age(responses: Reach | undefined): Promise<void> {
    if (responses === undefined) return;
    const { changes } = this.cache.core;
    await Promise.all([changes.expire(responses.requests), changes.expireTags([responses.tag])]);
  }

  private about(args: readonly unknown[]): Request {
    const { method } = this;
    const { name, version, policy } = method;
    const call = this.cache.core.requests.call(this.options());
    const key = method.keyOf(this.instance, args, call);
    return { key, name, version, policy, call, args, load: nothing };
  }

  private options(): CallOptions | undefined {
    return this.part === undefined ? undefined : { vary: this.part };
  }
}
