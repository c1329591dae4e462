/** What clients do with a delta of seconds beyond it is up to them (RFC 9111, 1.2.2). */
const MAX_SECONDS = 2_147_483_647;
const DEFAULT = 'private, no-cache';
/** directive[=token|"quoted"], comma separated (RFC 9111, 5.2). */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const DIRECTIVE = `${TOKEN}(?:=(?:${TOKEN}|"(?:[^"\\\\\\x00-\\x1f\\x7f-\\uffff]|\\\\[\\x20-\\x7e])*"))?`;
const FIELD = new RegExp(`^${DIRECTIVE}(?:[ \\t]*,[ \\t]*${DIRECTIVE})*$`);

/** Where an entry stands in its life, in milliseconds. */
export interface EntryLife {
  readonly ageMs: number;
  /** What is left of its freshness; negative where it is stale. */
  readonly freshForMs: number;
  /** How long it may be served once it is stale, in all. */
  readonly staleMs: number;
  /** How long it may be served once it is stale where loads fail, in all. */
  readonly staleIfErrorMs: number;
  /** Whether there is an entry at all. */
  readonly stored: boolean;
}

export interface CacheControlInput {
  /** The route's `http.cacheControl`. */
  readonly setting: string | false | undefined;
  readonly life: EntryLife;
  readonly isPrivate: boolean;
}

/** The `Cache-Control` of an answer; undefined: none is sent. */
export function cacheControlOf({ setting, life, isPrivate }: CacheControlInput): string | undefined {
  if (setting === false) return undefined;
  if (setting !== 'entry') return setting ?? DEFAULT;
  return life.stored ? ofEntry(life, isPrivate) : DEFAULT;
}

/**
 * @returns what is wrong with a route's `http.cacheControl`, in words that follow "cacheControl"; undefined: nothing
 */
export function checkCacheControl(setting: unknown): string | undefined {
  if (setting === undefined || setting === false) return undefined;
  if (typeof setting !== 'string') return "is 'entry', false or the text of a Cache-Control header";
  if (FIELD.test(setting)) return undefined;
  return "is no Cache-Control: directives such as 'public, max-age=60', separated by commas";
}

/** `Age` is sent beside it, and clients subtract it: max-age is the whole life, the windows what is left of theirs. */
function ofEntry({ ageMs, freshForMs, staleMs, staleIfErrorMs }: EntryLife, isPrivate: boolean): string {
  const staleSinceMs = Math.max(0, -freshForMs);
  const maxAge = Math.min(MAX_SECONDS, seconds(ageMs) + seconds(freshForMs));
  const revalidate = seconds(staleMs - staleSinceMs);
  const ifError = seconds(staleIfErrorMs - staleSinceMs);
  let text = `${isPrivate ? 'private' : 'public'}, max-age=${maxAge}`;
  if (revalidate > 0) text += `, stale-while-revalidate=${revalidate}`;
  if (ifError > 0) text += `, stale-if-error=${ifError}`;
  return text;
}

function seconds(ms: number): number {
  return Math.min(MAX_SECONDS, Math.max(0, Math.floor(ms / 1_000)));
}
