import { NOT_MODIFIED } from '../../core/load/index.js';
import type { ResolvedPolicy } from '../../core/policy/index.js';
import type { CachedMethod } from '../cached/cached-method.js';
import type { ManagedCache } from '../managed-cache.js';
import type { InputReader, InputReading } from './contracts.js';
import type { ResolvedHttp } from './resolve-http.js';
import type { HandlerKind } from './transports/index.js';

/** How requests of one marked handler are answered. Made once for each kind of request that reaches it. */
export class RoutePlan {
  /** Of {@link vary}, as a header. */
  readonly varyText: string;
  private alone: string | undefined;

  constructor(
    readonly kind: HandlerKind,
    readonly cache: ManagedCache,
    readonly method: CachedMethod,
    /** Of the responses, not of what the handler returns. */
    readonly policy: ResolvedPolicy,
    readonly http: ResolvedHttp,
    readonly reader: InputReader,
    /** Request headers that the answer depends on. */
    readonly vary: readonly string[],
    /** What of a request is part of the key whatever the handler declares: its version, host parameters. */
    readonly placeOf: ((request: object) => readonly unknown[]) | undefined,
    /** Nobody changes the answer on its way out. */
    readonly isOutermost: boolean,
    /** What `when` sees as `this`, where the class has one instance. */
    private readonly instance: object | undefined,
    /** The handler has a `Cache-Control` of its own (`@Header`). */
    readonly declaresCacheControl: boolean,
  ) {
    this.varyText = vary.join(', ');
  }

  /** Whether a credential matters: what the author says of the key covers all of them. */
  get needsCover(): boolean {
    return !this.http.public && this.http.key === undefined && this.http.credentials.length > 0;
  }

  /** Whether the author wants this request cached. */
  applies(reading: InputReading): boolean {
    const { method } = this;
    return !method.hasWhen || method.applies(this.instance, reading.args);
  }

  /** Whether a handler returned what `notModified()` gave it. */
  keepsOld(value: unknown): boolean {
    return value === NOT_MODIFIED;
  }

  /** Its answers are for one request each: seen while it ran, or at once. */
  get isForOneEach(): boolean {
    return this.alone !== undefined;
  }

  /** An input was nothing that a key can be made of: its request went straight to the handler. Told of once a minute. */
  tellOfKey(error: Error): void {
    this.cache.advice.sometimes(
      `${this.method.where} key`,
      () => `${error.message} The request went past the cache.`,
    );
  }

  /** From now on its requests go straight to it. Told of once. */
  leaveAlone(why: string): void {
    if (this.alone !== undefined) return;
    this.alone = why;
    this.cache.warn(
      `${this.method.where}: ${why}, so its responses are not cached. Take its mark away, or add @NoCache().`,
    );
  }
}

/** What the interceptor knows of a handler: how it answers it, or only that the method's own wrapper stands aside. */
export interface Routed {
  /** The use of `@Cached` whose wrapper stands aside. */
  readonly aside: object | undefined;
  readonly plan: RoutePlan | undefined;
}
