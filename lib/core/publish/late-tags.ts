import type { Advice } from '../advice.js';
import type { LoadWishes } from '../load/index.js';
import type { Request } from '../request.js';
import { show } from '../show.js';
import { MAX_STORED_TAGS, MAX_TAGS, tagIds, tooMany } from '../tags.js';

/**
 * The tags known only from the value: the policy's `valueTags`, what the load said, and those of an entry that is kept.
 * Undefined: `valueTags` threw, which costs the entry, as nobody could invalidate it.
 * @param early ids of the tags known before the load, which count towards the limit
 * @throws ConfigurationError for too many tags, or for what is none
 */
export function lateTags(
  value: unknown,
  wishes: LoadWishes,
  request: Request,
  early: readonly string[],
  advice: Advice,
  kept: readonly string[] = [],
): readonly string[] | undefined {
  const ofValue = tagsOf(value, request, advice);
  if (ofValue === undefined) return undefined;
  const all = new Set([...early, ...wishes.tags, ...ofValue]);
  if (all.size > MAX_TAGS) throw tooMany(request.policy.where, [...all]);
  for (const id of [...kept, ...wishes.ownTags]) all.add(id);
  if (all.size > MAX_STORED_TAGS) throw tooMany(request.policy.where, [...all]);
  for (const id of early) all.delete(id);
  return [...all];
}

function tagsOf(value: unknown, { policy, args }: Request, advice: Advice): readonly string[] | undefined {
  const { valueTags, where } = policy;
  if (valueTags === undefined || value === null || value === undefined) return [];
  let given: unknown;
  try {
    given = valueTags(value, ...args);
  } catch (error) {
    advice.once(where, 'valueTags', `${where}: valueTags threw ${show(error)}. The value was not stored.`);
    return undefined;
  }
  return tagIds(given, `${where}: valueTags()`);
}
