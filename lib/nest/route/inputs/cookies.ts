/** The cookies of a request, by name. */
export type Cookies = Readonly<Record<string, unknown>>;

/**
 * The cookies of a `Cookie` header, as Nest 12 reads them (RFC 6265, section 5.4): split at the first `=`, trimmed of spaces
 * and tabs, unquoted, percent-decoded where that works; of equal names the first counts.
 */
export function parseCookieHeader(header: unknown): Cookies {
  const cookies = Object.create(null) as Record<string, unknown>; // a name may be any word
  const text = Array.isArray(header) ? header.join('; ') : header;
  if (typeof text !== 'string') return cookies;
  for (const pair of text.split(';')) {
    const middle = pair.indexOf('=');
    if (middle === -1) continue;
    const name = trim(pair.slice(0, middle));
    if (name === '' || name in cookies) continue;
    cookies[name] = decode(unquote(trim(pair.slice(middle + 1))));
  }
  return cookies;
}

/** A cookie that was sent; never a member that an object inherits. */
export function ownCookie(cookies: object, name: string): unknown {
  return Object.hasOwn(cookies, name) ? (cookies as Cookies)[name] : undefined; // it has the name
}

/** What of a request a key's cookies are read from. */
export interface CookieJars {
  /** As a parser left them, else those of the header. */
  readonly cookies: object;
  /** Those that a parser took out as signed, if any. */
  readonly signed: unknown;
  /** Reads those of the header. */
  readonly sent: () => object;
}

/**
 * A cookie as it was sent, for a key: also one that a parser took out, and with the signature that `cookie-session` and its like
 * keep beside it, without which anybody could send a value that is easy to guess.
 */
export function keyCookie({ cookies, signed, sent }: CookieJars, name: string): unknown {
  const isSigned = typeof signed === 'object' && signed !== null && Object.hasOwn(signed, name);
  const value = ownCookie(isSigned ? sent() : cookies, name);
  const signature = value === undefined ? undefined : ownCookie(cookies, `${name}.sig`);
  return signature === undefined ? value : [value, signature];
}

/** Not `String.prototype.trim`, which takes more than a user agent does: two names could become one. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09;
}

function unquote(value: string): string {
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}

function decode(value: string): string {
  if (!value.includes('%')) return value;
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
