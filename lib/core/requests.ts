import type { Advice } from './advice.js';
import { AsyncScope } from './async-scope.js';
import { checkPool, type ResolvedCacheOptions } from './cache-options.js';
import { ConfigurationError, UncacheableArgumentError } from './errors.js';
import {
  encodeArgs,
  encodeKey,
  encodeParts,
  entryKey,
  UnencodableKeyPart,
  type EntryKey,
  type Key,
  type KeyPart,
} from './keys/index.js';
import {
  RecentPolicies,
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
  /** As `variantOf` made it. @default none */
  readonly variant?: string;
}

/** The options of `with`, and the load in which it was called. */
interface Around {
  readonly call: ResolvedCall;
  readonly load: unknown;
}

/** An owner makes its keys either by `keyOf` or by `keyOfArgs`, whose texts of one plain value are the same. */
interface LastKey {
  readonly owner: Owner;
  readonly part: string | number;
  readonly key: EntryKey;
}

/** Turns what users give (keys, arguments, policies, call options, async context) into what the engine works with. */
export class Requests {
  private readonly around = new AsyncScope<Around>();
  private readonly resolved = new WeakMap<object, ResolvedPolicy>();
  private readonly recent = new RecentPolicies();
  /** The last key made of one plain value: many callers of a hot one come in a row. */
  private last: LastKey | undefined;
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

  /** Gives the context back. */
  close(): void {
    this.around.close();
  }

  /** Whether a call made here would be inside {@link with}. */
  get isAround(): boolean {
    return this.around.current() !== undefined;
  }

  call(call: CallOptions | undefined): ResolvedCall {
    return resolveCall(call, this.callAround());
  }

  /** A load is shared: the signal of the caller that happens to lead it must not end the calls made inside. */
  private callAround(): ResolvedCall | undefined {
    const around = this.around.current();
    if (around === undefined || around.load === this.currentLoad()) return around?.call;
    return { ...around.call, signal: undefined };
  }

  /** The policy of a call without a method. Resolved once per policy object. */
  policy(policy: AnyPolicy | undefined, where: string): ResolvedPolicy {
    if (policy === undefined) return (this.defaults ??= this.resolve(undefined, where));
    const known = typeof policy === 'object' && policy !== null ? this.resolved.get(policy) : undefined;
    if (known) return known;
    const recent =
      typeof policy === 'object' && policy !== null ? this.recent.find(policy, where) : undefined;
    if (recent) return recent;
    const fresh = this.resolve(policy, where);
    this.resolved.set(policy, fresh);
    this.recent.remember(policy, where, fresh);
    return fresh;
  }

  resolve(policy: AnyPolicy | undefined, where: string): ResolvedPolicy {
    const resolved = resolvePolicy(policy, this.options.policy, where, (message) =>
      this.advice.once(where, message, message),
    );
    this.checkPool(resolved);
    return resolved;
  }

  /** @throws ConfigurationError for a policy whose pool this cache does not have */
  checkPool({ pool, where }: ResolvedPolicy): void {
    checkPool(pool, this.options.loads, where);
  }

  keyOf(owner: Owner, vary: unknown, key: Key, where: string): EntryKey {
    if (vary !== undefined || !isPlain(key)) return this.encode(owner, vary, () => encodeKey(key), where);
    return this.sameAsLast(owner, key) ?? this.noteLast(owner, key, () => encodeKey(key), where);
  }

  keyOfArgs(owner: Owner, vary: unknown, args: readonly unknown[], where: string): EntryKey {
    const part = args[0];
    if (vary !== undefined || args.length !== 1 || !isPlain(part)) {
      return this.encode(owner, vary, () => encodeArgs(args), where);
    }
    return this.sameAsLast(owner, part) ?? this.noteLast(owner, part, () => encodeArgs(args), where);
  }

  /**
   * The key of what was asked for by other means than a call. `~` begins no encoded argument, so the two never meet.
   * @param how what the parts are, in printable ASCII without space, `{` and `}`
   */
  keyOfRequest(owner: Owner, vary: unknown, how: string, parts: readonly unknown[], where: string): EntryKey {
    return this.encode(owner, vary, () => `~${how}:${encodeParts(parts)}`, where);
  }

  private sameAsLast(owner: Owner, part: string | number): EntryKey | undefined {
    const { last } = this;
    return last !== undefined && last.part === part && last.owner === owner ? last.key : undefined;
  }

  private noteLast(owner: Owner, part: string | number, encodeRest: () => string, where: string): EntryKey {
    const key = this.encode(owner, undefined, encodeRest, where);
    this.last = { owner, part, key };
    return key;
  }

  private encode(owner: Owner, vary: unknown, encodeRest: () => string, where: string): EntryKey {
    try {
      const name = owner.name === '' ? undefined : owner.name;
      return entryKey(name, vary as KeyPart, encodeRest(), owner.variant);
    } catch (error) {
      if (!(error instanceof UnencodableKeyPart)) throw error;
      throw new UncacheableArgumentError(`${where}: ${error.message} Give a \`key\` made of plain values.`, {
        cause: error,
      });
    }
  }

  /** Whether calls under this policy may be told apart by more than their keys. */
  mayVary({ vary }: ResolvedPolicy): boolean {
    const given = vary ?? this.options.vary;
    return given !== undefined && given !== false;
  }

  /** The part that keeps tenants apart: the call's own, else the policy's, else the module's. Undefined: none. */
  vary(call: ResolvedCall, policy: ResolvedPolicy | undefined, where: string): unknown {
    const given = call.vary ?? policy?.vary ?? this.options.vary;
    if (given === undefined || given === false) return undefined;
    const part: unknown = typeof given === 'function' ? (given as () => unknown)() : given;
    if (part !== undefined) return part;
    throw new ConfigurationError(
      `${where}: vary() returned undefined. Call it where it has a value, or name one: of(…).vary('acme') for a handle, with({ vary: 'acme' }, run) around calls. A policy opts out with vary: false.`,
    );
  }
}

/** Short enough to be looked at again: the text of a longer one is a digest. */
const MAX_PLAIN = 100;

function isPlain(part: unknown): part is string | number {
  return typeof part === 'number' || (typeof part === 'string' && part.length <= MAX_PLAIN);
}
