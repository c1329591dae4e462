import type { KeyPart } from '../../core/keys/index.js';
import type { Policy } from '../../core/policy/index.js';
import type { HttpOptions } from './http-options.interface.js';

/** Any method. Its own type is inferred, not its arguments: only so do all callbacks get theirs without annotations. */
// The one `any` of the public types: a constraint that every method's parameters must satisfy.
// oxlint-disable-next-line typescript/no-explicit-any
export type AnyMethod = (...args: any[]) => any;

/** What `@Cached` takes: the policy of the entries, and how calls of the method become entries. */
export interface CachedOptions<H, M extends AnyMethod> extends Policy<Awaited<ReturnType<M>>, Parameters<M>> {
  /** What tells one entry of this method from another. @default all arguments */
  readonly key?: (this: H, ...args: Parameters<M>) => KeyPart | readonly KeyPart[];
  /** The name that the entries, events and metrics carry. @default the class of the instance, and the method */
  readonly name?: string;
  /**
   * Which build's entries these are: another version neither reads nor overwrites them, and invalidations reach both. Change it
   * with the shape of the value. @default none
   */
  readonly version?: string | number;
  /** The named cache that keeps the entries. @default the default cache */
  readonly cache?: string;
  /** false: straight to the method, nothing is read or stored. @default always true */
  readonly when?: (this: H, ...args: Parameters<M>) => boolean;
  /** How requests become entries, and how responses are sent, where {@link StampedeCacheInterceptor} is bound. */
  readonly http?: HttpOptions;
}

type IsAny<T> = 0 extends 1 & T ? true : false;

/** What the compiler shows for a method that does not fit. */
export type MustReturnAPromise<Decorator extends string = '@Cached'> =
  `${Decorator} is for methods that return a Promise: make the method async, and turn an Observable into a Promise with firstValueFrom()`;

/** The method itself if it returns a Promise (or `any`), else a message. Of overloads, the last one counts. */
export type AsyncOnly<M extends AnyMethod, Decorator extends string = '@Cached'> =
  IsAny<M> extends true
    ? M
    : IsAny<ReturnType<M>> extends true
      ? M
      : [ReturnType<M>] extends [Promise<unknown>]
        ? M
        : MustReturnAPromise<Decorator>;

/** The decorator that `@Cached(options)` makes. */
export type CachedDecorator<H, M extends AnyMethod> = (
  target: H,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<M> & TypedPropertyDescriptor<AsyncOnly<M>>,
) => void;
