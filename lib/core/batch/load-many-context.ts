import { ConfigurationError } from '../errors.js';
import type { LoadContext } from '../load/index.js';
import { show } from '../show.js';
import { BatchContext } from './batch-context.js';

/**
 * What a running load of many knows and may say. `ttl`, `skip`, `tags`, `asOf` and `sourceVersion` count for all its ids, and
 * by {@link of} for one.
 */
export interface LoadManyContext<K = unknown, T = unknown> extends Omit<
  LoadContext<T>,
  'key' | 'stale' | 'notModified'
> {
  /** The values this load is to replace, as copies of its own, of those ids of which one is still held. */
  readonly stale: ReadonlyMap<K, T>;
  /**
   * The load of one of its ids: `map.set(id, ctx.of(id).notModified())`.
   * @throws ConfigurationError for an id that this load was not given
   */
  of(id: K): LoadContext<T>;
}

/** The same for a loader whose values' type is inferred from what it returns. */
export interface InferringLoadManyContext<K = unknown> extends Omit<LoadManyContext<K, never>, 'stale'> {
  /** The values this load is to replace. Their type can't be known here: name it with `getOrLoadMany<K, T>`. */
  // oxlint-disable-next-line typescript/no-explicit-any -- `unknown` would refuse every use of it
  readonly stale: ReadonlyMap<K, any>;
}

/** The {@link LoadManyContext} of one load. */
export class RunningManyContext extends BatchContext implements LoadManyContext {
  private held: ReadonlyMap<unknown, unknown> | undefined;
  private byId: ReadonlyMap<unknown, LoadContext> | undefined;

  get stale(): ReadonlyMap<unknown, unknown> {
    this.held ??= new Map(
      this.parts.flatMap(({ id, context }) => (context.holdsStale ? [[id, context.stale]] : [])),
    );
    return this.held;
  }

  of(id: unknown): LoadContext {
    this.byId ??= new Map(this.parts.map((part) => [part.id, part.context]));
    const context = this.byId.get(id);
    if (context) return context;
    throw new ConfigurationError(
      `${this.where}: ctx.of(${show(id)}): it is not among the ${this.parts.length} ids of this load.`,
    );
  }
}
