import { AsyncLocalStorage } from 'node:async_hooks';
import type { Advice } from './advice.js';
import type { ResolvedCacheOptions } from './cache-options.js';
import { ConfigurationError, UncacheableArgumentError } from './errors.js';
import {
  encodeArgs,
  encodeKey,
  entryKey,
  UnencodableKeyPart,
  type EntryKey,
  type Key,
  type KeyPart,
} from './keys/index.js';
import {
  resolveCall,
  resolvePolicy,
  type AnyPolicy,
  type CallOptions,
  type ResolvedCall,
  type ResolvedPolicy,
} from './policy/index.js';

/** A cached method, or all calls without one. */
export interface Owner {
  /** The name its keys and events carry; `''` for calls without a method. */
  readonly name: string;
  readonly policy: ResolvedPolicy;
}

/** The options of `with`, and the load in which it was called. */
interface Around {
  readonly call: ResolvedCall;
  readonly load: unknown;
}

/** Turns what users give (keys, arguments, policies, call options, async context) into what the engine works with. */
export class Requests {
  private readonly around = new AsyncLocalStorage<Around>();
  private readonly resolved = new WeakMap<object, ResolvedPolicy>();
  private defaults: ResolvedPolicy | undefined;

  constructor(
    private readonly options: ResolvedCacheOptions,
    private readonly advice: Advice,
    /** The load that runs around a call, if any. */
    private readonly currentLoad: () => unknown,
  ) {}

  /** Runs `run` with `call` as the options of every call inside. */
  with<R>(call: CallOptions, run: () => R): R {
    return this.around.run({ call: this.call(call), load: this.currentLoad() }, run);
  }

  call(call: CallOptions | undefined): ResolvedCall {
    return resolveCall(call, this.callAround());
  }

  /** A load is shared: the signal of the caller that happens to lead it must not end the calls made inside. */
  private callAround(): ResolvedCall | undefined {
    const around = this.around.getStore();
    if (around === undefined || around.load === this.currentLoad()) return around?.call;
    return { ...around.call, signal: undefined };
  }

  /** The policy of a call without a method. Resolved once per policy object. */
  policy(policy: AnyPolicy | undefined, where: string): ResolvedPolicy {
    if (policy === undefined) return (this.defaults ??= this.resolve(undefined, where));
    const known = typeof policy === 'object' && policy !== null ? this.resolved.get(policy) : undefined;
    if (known) return known;
    const fresh = this.resolve(policy, where);
    this.resolved.set(policy, fresh);
    return fresh;
  }

  resolve(policy: AnyPolicy | undefined, where: string): ResolvedPolicy {
    return resolvePolicy(policy, this.options.policy, where, (message) =>
      this.advice.once(where, message, message),
    );
  }

  keyOf(owner: Pick<Owner, 'name'>, vary: unknown, key: Key, where: string): EntryKey {
    return this.encode(owner, vary, () => encodeKey(key), where);
  }

  keyOfArgs(owner: Pick<Owner, 'name'>, vary: unknown, args: readonly unknown[], where: string): EntryKey {
    return this.encode(owner, vary, () => encodeArgs(args), where);
  }

  private encode(
    owner: Pick<Owner, 'name'>,
    vary: unknown,
    encodeRest: () => string,
    where: string,
  ): EntryKey {
    try {
      return entryKey(owner.name === '' ? undefined : owner.name, vary as KeyPart, encodeRest());
    } catch (error) {
      if (!(error instanceof UnencodableKeyPart)) throw error;
      throw new UncacheableArgumentError(`${where}: ${error.message} Give a \`key\` made of plain values.`, {
        cause: error,
      });
    }
  }

  /** The part that keeps tenants apart: the call's own, else the policy's, else the module's. Undefined: none. */
  vary(call: ResolvedCall, policy: ResolvedPolicy | undefined, where: string): unknown {
    const given = call.vary ?? policy?.vary ?? this.options.vary;
    if (given === undefined || given === false) return undefined;
    const part: unknown = typeof given === 'function' ? (given as () => unknown)() : given;
    if (part !== undefined) return part;
    throw new ConfigurationError(
      `${where}: vary() returned undefined. Call it where it has a value, name one with { vary: 'tenant' }, or opt out with { vary: false }.`,
    );
  }
}
