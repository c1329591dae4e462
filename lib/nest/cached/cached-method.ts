import { isObservable } from 'rxjs';
import { ConfigurationError, UncacheableArgumentError, UncacheableValueError } from '../../core/errors.js';
import { encodeArgs, UnencodableKeyPart, variantOf, type EntryKey, type Key } from '../../core/keys/index.js';
import {
  resolvePolicy,
  type AnyPolicy,
  type ResolvedCall,
  type ResolvedPolicy,
} from '../../core/policy/index.js';
import type { Requests } from '../../core/requests.js';
import { show } from '../../core/show.js';
import { isThenable } from '../is-thenable.js';
import { asFlag } from '../options/as-flag.js';
import { resolveHttp } from '../route/resolve-http.js';
import { declarationFor, describeMethod, type CachedDeclaration, type ClassLike } from './declaration.js';

/** Options of `@Cached` that are not part of the policy. */
const OWN = ['key', 'name', 'version', 'cache', 'when', 'http'] as const;
/** Options whose capability is not part of this version. */
const NOT_YET = ['refresh', 'warm'] as const;

type KeyFunction = (this: object | undefined, ...args: readonly unknown[]) => Key;
type WhenFunction = (this: object | undefined, ...args: readonly unknown[]) => boolean;

/** A `@Cached` method of one class in one cache: its name, its policy, and how its calls become keys. Resolved once. */
export class CachedMethod {
  readonly where: string;
  readonly name: string;
  /** As it was given, as text. */
  readonly version: string | undefined;
  /** What its keys carry of the version. */
  readonly variant: string;
  readonly policy: ResolvedPolicy;
  /**
   * Another `@Cached` method overrides this one, so that only its `super.method()` comes here: inside its load, whose entry
   * covers this call. An entry of its own would outlive the invalidation of that one.
   */
  readonly isCovered: boolean;
  private toldOfSync = false;
  private readonly key: KeyFunction | undefined;
  private readonly when: WhenFunction | undefined;

  /** @throws ConfigurationError naming class, method, option and value */
  constructor(
    readonly declaration: CachedDeclaration,
    readonly host: ClassLike,
    private readonly requests: Requests,
    defaults: AnyPolicy | undefined,
    warn: (message: string) => void,
  ) {
    this.where = describeMethod(host, declaration.method);
    const reached = declarationFor(host.prototype, declaration.method);
    this.isCovered = reached !== undefined && reached !== declaration;
    const { key, name, version, when, policy } = read(declaration, this.where);
    this.key = key;
    this.when = when;
    this.name = name ?? defaultName(declaration, host, this.where);
    this.version = version === undefined ? undefined : String(version);
    this.variant = variantOf(version);
    // What the module's own ttl looks like is told of once, and not at every method that has none.
    const about = policy.ttl === undefined ? `${this.where}: ttl ` : undefined;
    const tell = (message: string): void => {
      if (about === undefined || !message.startsWith(about)) warn(message);
    };
    this.policy = resolvePolicy(policy, defaults, this.where, tell, OWN);
    requests.checkPool(this.policy);
  }

  get hasKey(): boolean {
    return this.key !== undefined;
  }

  get hasWhen(): boolean {
    return this.when !== undefined;
  }

  /** Whether this call is cached at all. */
  applies(instance: object | undefined, args: readonly unknown[]): boolean {
    return (
      this.when === undefined || asFlag(this.when.apply(instance, args as unknown[]), `${this.where}: when()`)
    );
  }

  /** The method itself. One that is synchronous, as JavaScript allows, is told of once: callers get a Promise. */
  run(instance: object, args: readonly unknown[], warn: (message: string) => void): unknown {
    const result: unknown = this.declaration.original.apply(instance, args as unknown[]);
    if (!this.toldOfSync && !isThenable(result)) {
      this.toldOfSync = true;
      warn(
        `${this.where} returned a value and no Promise: being @Cached, it returns a Promise to its callers.`,
      );
    }
    return result;
  }

  /**
   * The method as the loader of its entry.
   * @throws UncacheableValueError for an Observable, which the engine would know as a stream only
   */
  load(instance: object, args: readonly unknown[], warn: (message: string) => void): unknown {
    const result = this.run(instance, args, warn);
    if (this.policy.onUncacheable === 'bypass' || !isObservable(result)) return result;
    throw new UncacheableValueError(
      `${this.where}: the value is an Observable and can't be cached. Return a Promise: firstValueFrom(observable).`,
      '',
    );
  }

  /** @throws UncacheableArgumentError naming class, method and argument */
  keyOf(instance: object | undefined, args: readonly unknown[], call: ResolvedCall): EntryKey {
    const vary = this.requests.vary(call, this.policy, this.where);
    if (this.key !== undefined) {
      return this.requests.keyOf(this, vary, this.askKey(this.key, instance, args), `${this.where}: key()`);
    }
    try {
      return this.requests.keyOfArgs(this, vary, args, this.where);
    } catch (error) {
      throw this.namingTheArgument(error, args);
    }
  }

  /** @throws ConfigurationError where the function failed for want of an instance, which it may see as `this` */
  private askKey(key: KeyFunction, instance: object | undefined, args: readonly unknown[]): Key {
    if (instance !== undefined) return key.apply(instance, args as unknown[]);
    try {
      return key.apply(undefined, args as unknown[]);
    } catch (cause) {
      throw new ConfigurationError(
        `${this.where}: key() failed without an instance, of which ${this.host.name} has none for all (${show(cause)}). Name one: of(instance, …).`,
        { cause },
      );
    }
  }

  private namingTheArgument(error: unknown, args: readonly unknown[]): unknown {
    if (!(error instanceof UncacheableArgumentError)) return error;
    try {
      // Throws again if an argument was the reason, and not the vary part.
      encodeArgs(args);
      return error;
    } catch (cause) {
      if (!(cause instanceof UnencodableKeyPart)) return error;
      const [index] = cause.segments;
      const inside = cause.path.slice(`[${index}]`.length);
      return new UncacheableArgumentError(
        `${this.where}: argument at index [${index}] can't be part of the key: ${inside === '' ? 'it' : inside} is ${cause.what}. Give @Cached a key made of what identifies the entry: key: (id) => id.`,
        { cause },
      );
    }
  }
}

interface Read {
  readonly key: KeyFunction | undefined;
  readonly name: string | undefined;
  readonly version: string | number | undefined;
  readonly when: WhenFunction | undefined;
  readonly policy: AnyPolicy;
}

function read({ options, decorator = '@Cached' }: CachedDeclaration, where: string): Read {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError(
      `${where}: ${decorator} takes options such as { ttl: '60s' }, received ${show(options)}.`,
    );
  }
  const given: Record<string, unknown> = { ...options };
  for (const name of NOT_YET) {
    if (given[name] !== undefined && given[name] !== false) {
      throw new ConfigurationError(
        `${where}: ${name} is not supported in this version, received ${show(given[name])}. Remove it.`,
      );
    }
    delete given[name];
  }
  const { key, name, version, cache, when, http } = given;
  resolveHttp(http, where);
  checkFunction(key, `${where}: key`);
  checkFunction(when, `${where}: when`);
  checkText(name, `${where}: name`);
  checkText(cache, `${where}: cache`);
  if (!isFiniteNumber(version)) checkText(version, `${where}: version`, 'a number, or ');
  for (const own of OWN) delete given[own];
  // The rest is judged where the policy is resolved; what stands here was just checked.
  return { key, name, version, when, policy: given } as Read;
}

function checkFunction(value: unknown, what: string): void {
  if (value === undefined || typeof value === 'function') return;
  throw new ConfigurationError(`${what} is a function of the method's arguments, received ${show(value)}.`);
}

function checkText(value: unknown, what: string, or = ''): void {
  if (value === undefined || (typeof value === 'string' && value !== '')) return;
  throw new ConfigurationError(`${what} is ${or}a text that is not empty, received ${show(value)}.`);
}

function isFiniteNumber(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}

/** The class of the instance, and the method. */
function defaultName(declaration: CachedDeclaration, host: ClassLike, where: string): string {
  if (host.name !== '') return describeMethod(host, declaration.method);
  throw new ConfigurationError(`${where}: the class has no name of its own. Give @Cached a name.`);
}
