import type { AsyncMethodOf } from './cached-handle.interface.js';
import type { AnyMethod, AsyncOnly } from './cached-options.interface.js';

/** Any class, also an abstract one. */
export type ClassOf<C> = abstract new (...args: never[]) => C;

/** When an eviction happens, and what becomes of the call if the store does not acknowledge it. */
export interface EvictionTiming<W extends 'after' | 'before'> {
  /** After the method succeeded, or before it is called: then the result is undefined. @default 'after' */
  readonly when?: W;
  /**
   * `'retry'`: the call goes on; this process distrusts the entries until the eviction, tried again in the background, has
   * succeeded. `'throw'`: the call rejects with the `InvalidationError`, which carries the method's `result`.
   * @default 'retry'
   */
  readonly onFailure?: 'retry' | 'throw';
}

/** What an eviction's callbacks know of the method's result. */
export type ResultOf<M extends AnyMethod, W> = W extends 'before' ? undefined : Awaited<ReturnType<M>>;

/** The arguments of a method by its name. Of overloads, the last one counts. */
export type ArgsOf<C, K> = K extends keyof C
  ? C[K] extends AnyMethod
    ? Readonly<Parameters<C[K]>>
    : never
  : never;

/** What a method resolves to, by its name. */
export type ValueOf<C, K> = K extends keyof C
  ? C[K] extends AnyMethod
    ? Awaited<ReturnType<C[K]>>
    : never
  : never;

/** From a call of the method to the arguments of the call whose entry is meant. */
export type ArgsCallback<H, M extends AnyMethod, W, Args> = (
  this: H,
  result: ResultOf<M, W>,
  ...args: Parameters<M>
) => Args;

/** Tags, or a function that tells them. */
export type EvictedTags<H, M extends AnyMethod, W> =
  readonly string[] | ((this: H, result: ResultOf<M, W>, ...args: Parameters<M>) => readonly string[]);

/** Entries of one `@Cached` method go. `Of` says which method. */
export interface EvictMethodOptions<
  H,
  M extends AnyMethod,
  W extends 'after' | 'before',
  Of,
  Args,
> extends EvictionTiming<W> {
  /**
   * The `@Cached` method: its name if it is of the same class, else `() => [Class, 'method']`, asked when the application
   * starts.
   */
  readonly of: Of;
  /** The arguments of the call whose entry goes. @default all entries of the method, unless there are `tags` */
  readonly args?: ArgsCallback<H, M, W, Args>;
  /** Tags that are invalidated in the method's cache, besides what `args` names. @default none */
  readonly tags?: EvictedTags<H, M, W>;
}

/** Everything that carries a tag goes. */
export interface EvictTagsOptions<
  H,
  M extends AnyMethod,
  W extends 'after' | 'before',
> extends EvictionTiming<W> {
  readonly of?: undefined;
  readonly args?: undefined;
  readonly tags: EvictedTags<H, M, W>;
  /** The named cache. @default the default cache */
  readonly cache?: string;
}

/** The entry of one call is replaced by what the method resolves to. */
export interface PutOptions<H, M extends AnyMethod, Of, Args> {
  /**
   * The `@Cached` method: its name if it is of the same class, else `() => [Class, 'method']`, asked when the application
   * starts.
   */
  readonly of: Of;
  /** The arguments of the call whose entry is replaced. */
  readonly args: ArgsCallback<H, M, 'after', Args>;
}

/** `() => [Class, 'method']`. A function, because the class may be declared later, in a file that imports this one. */
export type TargetOf<C extends object, K extends AsyncMethodOf<C>> = () => readonly [ClassOf<C>, K];

/**
 * What names a method that is not public: only where the types are said, as nothing else can check it.
 */
export type HiddenTarget<A> = [A] extends [never]
  ? "of names a public async method: 'method' of the same class, or () => [Class, 'method']. For another one say its arguments: <[id: number]>"
  : string | (() => readonly [ClassOf<object>, string]);

/** The decorator that `@CacheEvict(options)` makes. */
export type EvictDecorator<H, M extends AnyMethod> = (
  target: H,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<M> & TypedPropertyDescriptor<AsyncOnly<M, '@CacheEvict'>>,
) => void;

/** The decorator that `@CachePut(options)` makes. */
export type PutDecorator<H, M extends AnyMethod, V> = (
  target: H,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<M> &
    TypedPropertyDescriptor<AsyncOnly<M, '@CachePut'>> &
    TypedPropertyDescriptor<Resolving<M, V>>,
) => void;

/** The method itself if what it resolves to may stand in the entry, else a message. */
export type Resolving<M extends AnyMethod, V> = [Awaited<ReturnType<M>>] extends [V]
  ? M
  : '@CachePut stores what the method resolves to, which is not what the @Cached method resolves to';
