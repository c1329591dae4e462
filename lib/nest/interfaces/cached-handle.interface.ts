import type { EntryInfo } from '../../core/entries.js';
import type { KeyPart } from '../../core/keys/index.js';
import type { AnyMethod } from './cached-options.interface.js';
import type { WithHoldOff } from './hold-off-options.interface.js';

/** The entries of one `@Cached` method, by its own arguments, key function, name, version, policy and `vary`. */
export interface CachedHandle<A extends readonly unknown[], T> {
  /** The fresh value of a call with these arguments, or undefined. Never loads. */
  get(...args: A): Promise<T | undefined>;
  /**
   * Replaces the value of a call with these arguments, and revokes its load under way. The arguments are a list, as a method
   * can take any number of them: `set([42], product)`.
   * @throws InvalidationError without the store's acknowledgement
   * @throws UncacheableValueError; the old entry is dropped before
   */
  set(args: A, value: T): Promise<void>;
  /**
   * Drops the entry of a call with these arguments, and revokes its load. An object behind them that holds nothing but
   * `holdOff` is an option: `invalidate(42, { holdOff: '5s' })`.
   * @throws InvalidationError without the store's acknowledgement
   */
  invalidate(...args: WithHoldOff<A>): Promise<void>;
  /**
   * Makes the entry of a call with these arguments stale: the next reader gets it, where the policy allows a stale value, and
   * refreshes it. @throws InvalidationError without the store's acknowledgement
   */
  expire(...args: A): Promise<void>;
  /**
   * Loads anew, by the method on its instance: the load begins after this call, is shared with whoever asks then, and its
   * value is stored and returned.
   * @throws ConfigurationError where the instance is not known: of a request-scoped or transient class, name one with
   * `of(instance, …)`
   */
  refresh(...args: A): Promise<T>;
  /** What is known of the entry of a call with these arguments. */
  inspect(...args: A): Promise<EntryInfo | null>;
  /** The encoded key of a call with these arguments, as events and `inspect` show it. */
  key(...args: A): string;
  /**
   * Makes every entry of the method unreadable, of all arguments, `vary` parts and versions: here at once, elsewhere within
   * `coherence.maxLag`. @throws InvalidationError without the store's acknowledgement
   */
  clear(): Promise<void>;
  /** The same entries with this part in their keys instead of what `vary` says; `false`: without one. */
  vary(part: KeyPart | false): CachedHandle<A, T>;
}

/** The names of an object's async methods. */
export type AsyncMethodOf<C> = {
  [K in keyof C]-?: C[K] extends (...args: never[]) => Promise<unknown> ? K : never;
}[keyof C];

/** The handle of a method by its name. Of overloads, the last one counts. */
export type HandleOf<C, K extends keyof C> = C[K] extends AnyMethod
  ? CachedHandle<Parameters<C[K]>, Awaited<ReturnType<C[K]>>>
  : never;

/** The name of a method that is not public: only with its types said, as nothing else can check it. */
export type HiddenMethodOf<A> = [A] extends [never]
  ? 'of() takes a public async method; for another one say its types: of<[id: number], Product>(Class, name)'
  : string | symbol;
