import { isObservable } from 'rxjs';
import { ConfigurationError, InvalidationError, UncacheableValueError } from '../../core/errors.js';
import { show } from '../../core/show.js';
import { eachTagId } from '../../core/tags.js';
import type { CachedMethods } from '../cached/cached-methods.js';
import type { CachedMethod } from '../cached/cached-method.js';
import type { Calls } from '../calls.js';
import { isThenable } from '../is-thenable.js';
import type { MethodEntries } from '../method-entries.js';
import type { EvictionDeclaration } from './eviction-declaration.js';
import type { EvictionPlan } from './eviction-plan.js';
import { joined } from './joined.js';

/** What an eviction needs of the cache it changes. */
export interface EvictionCache {
  readonly methods: CachedMethods;
  readonly calls: Calls;
}

/** The entries an eviction means. */
export interface ResolvedTarget {
  readonly method: CachedMethod;
  readonly prototype: object;
}

/** One `@CacheEvict` or `@CachePut` of one class, with the cache and the method that its names lead to. */
export class Eviction {
  private toldOfSync = false;

  constructor(
    private readonly kind: EvictionDeclaration['kind'],
    private readonly where: string,
    private readonly plan: EvictionPlan,
    private readonly cache: EvictionCache,
    private readonly target: ResolvedTarget | undefined,
  ) {}

  get isBefore(): boolean {
    return this.plan.when === 'before';
  }

  /** What the method returned, if it is a Promise or can pass for one. @throws ConfigurationError for an Observable */
  returned(value: unknown): unknown {
    if (isObservable(value)) {
      throw new ConfigurationError(
        `${this.where}: the method returned an Observable, which does nothing before it is subscribed to. Return a Promise: firstValueFrom(observable).`,
      );
    }
    if (!this.toldOfSync && !isThenable(value)) {
      this.toldOfSync = true;
      this.cache.calls.warn(
        `${this.where}: the method returned a value and no Promise. Its callers get a Promise.`,
      );
    }
    return value;
  }

  /**
   * Changes what it names. What the store does not acknowledge is a warning, the retry in the background, and no error, unless
   * `onFailure` is `'throw'`.
   * @throws what a callback throws; ConfigurationError for what it must not return; UncacheableArgumentError
   * @throws InvalidationError with `onFailure: 'throw'`
   */
  async run(host: object, result: unknown, args: readonly unknown[]): Promise<void> {
    const outcomes = await Promise.allSettled([
      this.ofMethod(host, result, args),
      this.ofTags(host, result, args),
    ]);
    const errors = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' && !this.tolerates(outcome.reason) ? [outcome.reason as unknown] : [],
    );
    if (errors.length > 0) throw joined(errors);
  }

  private async ofMethod(host: object, result: unknown, args: readonly unknown[]): Promise<void> {
    const { plan, target } = this;
    if (target === undefined) return;
    const entries = this.entriesOf(target, host);
    if (plan.args === undefined) return plan.tags === undefined ? entries.clear() : undefined;
    const meant = this.listOf(
      plan.args.call(host, result, ...args),
      'args',
      'the arguments of the call whose entry is meant',
    );
    await (this.kind === 'put' ? entries.set(meant, result) : entries.invalidate(meant, 0));
  }

  private async ofTags(host: object, result: unknown, args: readonly unknown[]): Promise<void> {
    const { tags } = this.plan;
    if (tags === undefined) return;
    const meant =
      typeof tags === 'function' ? this.listOf(tags.call(host, result, ...args), 'tags', 'texts') : tags;
    eachTagId(meant, `${this.where}: tags`);
    await this.cache.calls.invalidateTags(meant as readonly string[], 0); // texts, as was just checked
  }

  /** The key function of a method of the same class sees the evicting instance. */
  private entriesOf({ method, prototype }: ResolvedTarget, host: object): MethodEntries {
    const { methods, calls } = this.cache;
    const instance = Object.getPrototypeOf(host) === prototype ? host : methods.instanceOf(prototype);
    return calls.entriesOf(method, instance);
  }

  private listOf(answer: unknown, option: string, of: string): readonly unknown[] {
    if (Array.isArray(answer)) return answer as readonly unknown[];
    const hint = isThenable(answer) ? ' It answers at once, without await.' : '';
    throw new ConfigurationError(
      `${this.where}: ${option}() returns an array, ${of}, received ${show(answer)}.${hint}`,
    );
  }

  private tolerates(error: unknown): boolean {
    if (error instanceof InvalidationError) {
      if (this.plan.onFailure === 'throw') return false;
      const goesOn = this.isBefore ? 'The method is called' : "The method's result is returned";
      this.warn(`${error.message} ${goesOn}; it is tried again in the background.`);
      return true;
    }
    if (this.kind !== 'put' || !(error instanceof UncacheableValueError)) return false;
    this.warn(`${error.message} The entry was dropped, and the method's result is returned.`);
    return true;
  }

  private warn(message: string): void {
    this.cache.calls.warnSometimes(this.where, `${this.where}: ${message}`);
  }
}
