import type { EntryInfo } from '../../core/entries.js';
import type { AnyMethod } from './cached-options.interface.js';

/** The entries of one `@Cached` method, by its own arguments, key function, name, policy and `vary`. */
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
  /** Drops the entry of a call with these arguments, and revokes its load. @throws InvalidationError */
  invalidate(...args: A): Promise<void>;
  /** What is known of the entry of a call with these arguments. */
  inspect(...args: A): Promise<EntryInfo | null>;
  /** The encoded key of a call with these arguments, as events and `inspect` show it. */
  key(...args: A): string;
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
