import { ConfigurationError } from './errors.js';
import { tagId } from './keys/index.js';
import { show } from './show.js';

/** Tags of one entry at most: each is compared on every read. */
export const MAX_TAGS = 16;
/** The same with the one that this package may add. */
export const MAX_STORED_TAGS = MAX_TAGS + 1;

/**
 * The ids of an entry's tags, each once.
 * @param where what gave them, for messages
 * @throws ConfigurationError for anything but at most 16 non-empty strings
 */
export function tagIds(tags: unknown, where: string): readonly string[] {
  const ids = [...new Set(eachTagId(tags, where))];
  if (ids.length <= MAX_TAGS) return ids;
  throw tooMany(where, ids);
}

export function tooMany(where: string, tags: readonly string[]): ConfigurationError {
  return new ConfigurationError(
    `${where}: an entry has at most ${MAX_TAGS} tags, received ${tags.length} (${show(tags)}). Tag it with what is invalidated together, not with every part.`,
  );
}

/** The same without the limit: tags that are to be invalidated. */
export function eachTagId(tags: unknown, where: string): readonly string[] {
  if (!Array.isArray(tags)) {
    throw new ConfigurationError(`${where}: tags are an array of strings, received ${show(tags)}.`);
  }
  return (tags as readonly unknown[]).map((tag) => {
    if (typeof tag === 'string' && tag !== '') return tagId(tag);
    const hint = Array.isArray(tag) ? ' Spread a list: (...tags).' : '';
    throw new ConfigurationError(
      `${where}: a tag is a string that is not empty, received ${show(tag)}.${hint}`,
    );
  });
}
