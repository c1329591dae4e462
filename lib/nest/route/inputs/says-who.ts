/** Deeper than this nobody's name is looked for. */
const MAX_DEPTH = 4;

/**
 * Whether the value of a custom decorator tells one caller from another in a key: it has a text or a number in it, and shows
 * all there is. A yes or no, a list and an instance don't: what a `toJSON()`, a getter or a hidden property leaves out of the
 * key, the handler can still read.
 */
export function saysWho(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isTelling(value);
  return isOpen(value, 0) && Object.values(value).some(isTellingWithin);
}

function isTelling(value: unknown): boolean {
  if (typeof value === 'string') return value !== '';
  return (typeof value === 'number' && value !== 0 && !Number.isNaN(value)) || typeof value === 'bigint';
}

function isTellingWithin(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isTelling(value);
  return Object.values(value).some(isTellingWithin);
}

/** Plain, all the way down: what is enumerated is what there is. */
function isOpen(value: object, depth: number): boolean {
  const isList = Array.isArray(value) && depth > 0;
  if (depth > MAX_DEPTH || !(isList || isPlain(value))) return false;
  return Object.values(value).every(
    (member: unknown) => typeof member !== 'object' || member === null || isOpen(member, depth + 1),
  );
}

function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  if (prototype !== Object.prototype && prototype !== null && !isBare(prototype)) return false;
  if ('toJSON' in value) return false;
  return Object.values(Object.getOwnPropertyDescriptors(value)).every(
    (property) => property.enumerable === true && 'value' in property,
  );
}

/** In place of none, which is slower: parsers of cookies and queries have it. */
function isBare(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Reflect.ownKeys(prototype).length === 0;
}
