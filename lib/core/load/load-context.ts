import { milliseconds, type Duration } from '../duration.js';
import { ConfigurationError } from '../errors.js';
import { show } from '../show.js';
import { tagId } from '../keys/index.js';
import { MAX_TAGS, tagIds, tooMany } from '../tags.js';

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
   * Tags known from what was loaded, like the policy's `valueTags`.
   * @throws ConfigurationError for anything but strings, or more than 16 of them
   */
  tags(...tags: string[]): void;
  /**
   * The value was current at this time, a Date or epoch ms (a replica's position, a `Last-Modified`): its age and its ttl
   * count from then. A time in the future counts as now.
   */
  asOf(time: Date | number): void;
  /**
   * The version of what was loaded, a whole number >= 0 of at most 16 digits: it never replaces an entry with a greater one,
   * whoever comes last. 0 is none.
   */
  sourceVersion(version: number | bigint): void;
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
  /** Ids of tags. */
  readonly tags: readonly string[];
  /** Ids of what this package tags the value with, one at most: outside of the user's limit. */
  readonly ownTags: readonly string[];
  /** Epoch ms; undefined: the end of the load. */
  readonly asOf: number | undefined;
  /** 0: none. */
  readonly sourceVersion: number;
}

export const NO_WISHES: LoadWishes = {
  ttl: undefined,
  skip: false,
  tags: [],
  ownTags: [],
  asOf: undefined,
  sourceVersion: 0,
};

/** The {@link LoadContext} of one load. Words spoken after its end change nothing. */
export class RunningLoadContext implements LoadContext {
  private readonly said: { -readonly [K in keyof LoadWishes]: LoadWishes[K] } = { ...NO_WISHES };
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

  get holdsStale(): boolean {
    return this.heldStale() !== undefined;
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

  tags(...tags: string[]): void {
    const ids = tagIds(tags, `${this.where}: ctx.tags()`);
    const all = [...new Set([...this.said.tags, ...ids])];
    if (all.length > MAX_TAGS) throw tooMany(`${this.where}: ctx.tags()`, all);
    this.said.tags = all;
  }

  /** @internal */
  tagAsOwn(tag: string): void {
    this.said.ownTags = [tagId(tag)];
  }

  asOf(time: Date | number): void {
    const ms = time instanceof Date ? time.getTime() : time;
    if (typeof ms !== 'number' || !Number.isFinite(ms) || ms < 0) {
      throw new ConfigurationError(
        `${this.where}: ctx.asOf(${show(time)}): give a valid Date or epoch milliseconds.`,
      );
    }
    this.said.asOf = ms;
  }

  sourceVersion(version: number | bigint): void {
    const number = Number(version);
    const isWhole =
      typeof version === 'bigint' || (typeof version === 'number' && Number.isSafeInteger(version));
    if (!isWhole || number < 0 || number > Number.MAX_SAFE_INTEGER) {
      throw new ConfigurationError(
        `${this.where}: ctx.sourceVersion(${show(version)}): give a whole number from 0 to ${Number.MAX_SAFE_INTEGER}.`,
      );
    }
    this.said.sourceVersion = number;
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

/** A tag of this package's own, beside those of the user; only a load that may be stored has room for one. */
export function tagAsOwn(context: LoadContext, tag: string): void {
  if (context instanceof RunningLoadContext) context.tagAsOwn(tag);
}
