import type { ExecutionContext } from '@nestjs/common';
import type { KeyPart } from '../../core/keys/index.js';

/** Directives of a request's `Cache-Control` that a route can allow its clients. */
export type RequestDirective = 'no-cache' | 'no-store' | 'only-if-cached' | 'max-age' | 'max-stale';

/** What of a request is part of the key, by name. */
export interface HttpInputs {
  /** Path parameters. */
  readonly params?: readonly string[];
  /** Query parameters; `[]`: none, whatever the handler takes. */
  readonly query?: readonly string[];
  /** Request headers. */
  readonly headers?: readonly string[];
  /** Properties of the body. */
  readonly body?: readonly string[];
  /** Cookies. */
  readonly cookies?: readonly string[];
  /** Properties of the session. */
  readonly session?: readonly string[];
  /** The client's address. @default false */
  readonly ip?: boolean;
}

/** How requests of a handler become entries, and how its responses are sent. Only {@link StampedeCacheInterceptor} heeds it. */
export interface HttpOptions {
  /**
   * What tells one entry of this handler from another, in place of everything it declares. It also says who may share one: a
   * request with a credential is cached by it, unless it is undefined, null, NaN, an empty text or a list of only such. NaN is
   * no key. @default what the handler declares
   */
  readonly key?: (context: ExecutionContext) => KeyPart | readonly KeyPart[];
  /**
   * What the handler reads, where its declaration doesn't tell (`@Req()`, a whole `@Query()`), beside the inputs it declares
   * by name. @default none
   */
  readonly inputs?: HttpInputs;
  /** `true`: the answer is the same whoever asks, credentials or not. @default false */
  readonly public?: boolean;
  /**
   * `'entry'` sends the entry's own life, `private` where the key has what neither URL nor `Vary` tells; any other text is sent
   * as it is; `false` sends none. What the handler sets itself stays. @default 'private, no-cache'
   */
  // `string & {}` keeps the completion of the one word.
  readonly cacheControl?: 'entry' | false | (string & {});
  /**
   * Which statuses are stored. Those that are about one request (206, 304, 401, 403, 407, 412, 416, 428, 429) only by a list.
   * @default 200 to 299
   */
  readonly statuses?: readonly number[] | ((status: number) => boolean);
  /** Which directives of a request's `Cache-Control` are heeded; `true`: all. Anyone could start a stampede. @default none */
  readonly requestDirectives?: boolean | readonly RequestDirective[];
  /**
   * Request headers that say who asks. A request with one of them is cached only where the key covers it.
   * @default ['authorization', 'cookie']
   */
  readonly credentials?: readonly string[];
}
