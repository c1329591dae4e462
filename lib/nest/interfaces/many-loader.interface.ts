import type { InferringLoadManyContext, LoadManyContext } from '../../core/batch/index.js';

/** What a loader of many returns: the values that were found. An id that is absent, or undefined, is "not found". */
type Found<K, T> = ReadonlyMap<K, T | undefined>;

/** Loads the ids that are neither cached nor loaded by others, at most `maxBatch` of them. */
export type ManyLoader<K, T> = (
  missing: K[],
  context: LoadManyContext<K, T>,
) => Promise<Found<K, T>> | Found<K, T>;

/** The same where the type of the values is inferred from what it returns. */
export type InferringManyLoader<K, T> = (
  missing: K[],
  context: InferringLoadManyContext<K>,
) => Promise<Found<K, T>> | Found<K, T>;
