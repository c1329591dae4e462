const MAX_LENGTH = 1_024;
const MAX_DIRECTIVES = 32;
/** Greater deltas count as this one (RFC 9111, 1.2.2). */
const MAX_SECONDS = 2_147_483_648;

/** What a request's `Cache-Control` asks for (RFC 9111, 5.2.1). */
export interface RequestDirectives {
  readonly noCache: boolean;
  readonly noStore: boolean;
  readonly onlyIfCached: boolean;
  readonly maxAgeMs?: number;
  /** Infinity: however stale. */
  readonly maxStaleMs?: number;
}

const NONE: RequestDirectives = { noCache: false, noStore: false, onlyIfCached: false };

/**
 * Unknown and malformed directives are skipped; of repeated ones the strictest counts.
 * @param pragma counts only where there is no Cache-Control (RFC 9111, 5.4)
 */
export function parseDirectives(cacheControl: string | undefined, pragma?: string): RequestDirectives {
  const field = cacheControl ?? onlyNoCache(pragma);
  if (field === undefined || field === '') return NONE;
  const result: { -readonly [K in keyof RequestDirectives]: RequestDirectives[K] } = { ...NONE };
  for (const directive of field.slice(0, MAX_LENGTH).split(',', MAX_DIRECTIVES)) {
    const equals = directive.indexOf('=');
    const name = (equals === -1 ? directive : directive.slice(0, equals)).trim().toLowerCase();
    const ms = equals === -1 ? undefined : millisecondsOf(directive.slice(equals + 1));
    if (name === 'no-cache') result.noCache = true;
    else if (name === 'no-store') result.noStore = true;
    else if (name === 'only-if-cached') result.onlyIfCached = true;
    else if (name === 'max-age' && ms !== undefined) result.maxAgeMs = Math.min(ms, result.maxAgeMs ?? ms);
    else if (name === 'max-stale' && (equals === -1 || ms !== undefined)) {
      result.maxStaleMs = Math.min(ms ?? Infinity, result.maxStaleMs ?? Infinity);
    }
  }
  return result;
}

function onlyNoCache(pragma: string | undefined): string | undefined {
  return pragma !== undefined && /(?:^|,)\s*no-cache\s*(?:,|$)/i.test(pragma.slice(0, MAX_LENGTH))
    ? 'no-cache'
    : undefined;
}

/** Digits, quoted or not. */
function millisecondsOf(text: string): number | undefined {
  const digits = /^"?(\d{1,20})"?$/.exec(text.trim())?.[1];
  return digits === undefined ? undefined : Math.min(Number(digits), MAX_SECONDS) * 1_000;
}
