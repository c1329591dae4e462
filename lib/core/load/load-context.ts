import { milliseconds, type Duration } from '../duration.js';
import { ConfigurationError } from '../errors.js';
import { show } from '../show.js';

/** What a running load knows and may say about its value. */
export interface LoadContext<T = unknown> {
  /** Aborts when nobody waits for this load any more, at `loadTimeout`, or when the application shuts down. */
  readonly signal: AbortSignal;
  /** The encoded key. */
  readonly key: string;
  /** The value this load is to replace, as a copy of its own, if one is still held. */
  readonly stale?: T | undefined;
  /** This value is fresh for so long, instead of the policy's `ttl`; <= 0 stores nothing. */
  ttl(duration: Duration): void;
  /** The value reaches its callers and is not stored. */
  skip(): void;
  /**
   * `return ctx.notModified()` keeps `stale` for a new ttl.
   * @throws ConfigurationError without a stale value
   */
  notModified(): T;
}

/**
 * The context of a loader whose value's type is inferred from what it returns: a context that named the type would have to
 * know it first.
 */
export interface InferringLoadContext extends Omit<LoadContext<never>, 'stale'> {
  /** The value this load is to replace. Its type can't be known here: name it with `getOrLoad<T>` and a typed context. */
  // oxlint-disable-next-line typescript/no-explicit-any -- `unknown` would refuse every use of it
  readonly stale?: any;
}

/** What {@link LoadContext.notModified} returns in place of a value. */
export const NOT_MODIFIED: unique symbol = Symbol('not modified');

/** A value, which may itself be undefined. */
export interface StaleValue {
  readonly value: unknown;
}

/** What a load said about its value. */
export interface LoadWishes {
  readonly ttl: number | undefined;
  readonly skip: boolean;
}

/** The {@link LoadContext} of one load. Words spoken after its end change nothing. */
export class RunningLoadContext implements LoadContext {
  private readonly said: { ttl: number | undefined; skip: boolean } = { ttl: undefined, skip: false };
  /** The loader asked to keep its stale value. */
  keeps = false;
  private staleRead: { readonly held: StaleValue | undefined } | undefined;

  /** `readStale` decodes a copy of the stale value; undefined: there is none, or it can't be read. */
  constructor(
    readonly key: string,
    readonly signal: AbortSignal,
    private readonly where: string,
    private readonly readStale: () => StaleValue | undefined,
  ) {}

  get stale(): unknown {
    return this.heldStale()?.value;
  }

  get wishes(): LoadWishes {
    return { ...this.said };
  }

  ttl(duration: Duration): void {
    const value = milliseconds(duration);
    if (value === undefined) {
      throw new ConfigurationError(
        `${this.where}: ctx.ttl(${show(duration)}): give milliseconds or a duration such as '30s'.`,
      );
    }
    this.said.ttl = value;
  }

  skip(): void {
    this.said.skip = true;
  }

  notModified(): never {
    if (!this.heldStale()) {
      throw new ConfigurationError(
        `${this.where}: ctx.notModified() needs a stale value, and none is held. Load and return the value.`,
      );
    }
    this.keeps = true;
    // A loader typed T returns this mark in T's place; the engine alone sees it.
    return NOT_MODIFIED as never;
  }

  /** Decoded once, and only for a loader that asks. */
  private heldStale(): StaleValue | undefined {
    this.staleRead ??= { held: this.readStale() };
    return this.staleRead.held;
  }
}
