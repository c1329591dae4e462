import type { HeaderValue, Reply } from './reply.js';

const NAME = 'stampede-cache';
/** Integers of structured fields have at most 15 digits (RFC 9651, 3.3.1). */
const MAX_INTEGER = 999_999_999_999_999;
const SF_TOKEN = /^[A-Za-z*][!#$%&'*+.^_`|~0-9A-Za-z:/-]*$/;

/** Why a request went on to the handler (RFC 9211, 2.2). */
export type ForwardReason =
  'bypass' | 'method' | 'uri-miss' | 'vary-miss' | 'miss' | 'request' | 'stale' | 'partial';

/** What the cache did with a request. */
export interface CacheStatus {
  /** Name of a named cache. */
  readonly name?: string | undefined;
  /** Absent: a hit. */
  readonly fwd?: ForwardReason | undefined;
  /** The handler's status. */
  readonly fwdStatus?: number | undefined;
  readonly stored?: boolean | undefined;
  /** Joined another request's load, or waited for one. */
  readonly collapsed?: boolean | undefined;
  /** Milliseconds of freshness left, negative where it is stale. */
  readonly ttlMs?: number | undefined;
  /** `credential`, `fallback`... */
  readonly detail?: string | undefined;
}

/** One member of `Cache-Status` (RFC 9211). */
export function cacheStatusOf(status: CacheStatus): string {
  const { name, fwd, fwdStatus, stored, collapsed, ttlMs, detail } = status;
  let text = bareItem(name === undefined ? NAME : `${NAME}.${name}`);
  text += fwd === undefined ? '; hit' : `; fwd=${fwd}`;
  if (fwd !== undefined && fwdStatus !== undefined) text += `; fwd-status=${fwdStatus}`;
  if (fwd !== undefined && stored === true) text += '; stored';
  if (fwd !== undefined && collapsed === true) text += '; collapsed';
  if (ttlMs !== undefined && !Number.isNaN(ttlMs)) text += `; ttl=${seconds(ttlMs)}`;
  if (detail !== undefined) text += `; detail=${bareItem(detail)}`;
  return text;
}

/** The field with one more member: caches closer to the client come last. */
export function cacheStatusWith(existing: HeaderValue | undefined, member: string): string {
  if (existing === undefined || existing.length === 0) return member;
  return `${typeof existing === 'string' ? existing : existing.join(', ')}, ${member}`;
}

export function addCacheStatus(reply: Reply, status: CacheStatus): void {
  reply.set('cache-status', cacheStatusWith(reply.get('cache-status'), cacheStatusOf(status)));
}

/** A token, or a quoted string; those know only ASCII, so the rest is percent-encoded. */
function bareItem(text: string): string {
  if (SF_TOKEN.test(text)) return text;
  const ascii = text.replace(/\p{Surrogate}/gu, '\ufffd').replace(/[^\x20-\x7e]/gu, encodeURIComponent);
  return `"${ascii.replace(/["\\]/g, '\\$&')}"`;
}

function seconds(ms: number): number {
  return Math.min(MAX_INTEGER, Math.max(-MAX_INTEGER, Math.floor(ms / 1_000)));
}
