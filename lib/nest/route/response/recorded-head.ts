import type { RecordedHeader, ResponseHead } from '../contracts.js';
import type { HeaderValue } from './reply.js';
import { listOf, type ShadowHeaders } from './shadow-headers.js';

/** Of one connection (RFC 9110, 7.6.1), of one message, or given apart. */
const NOT_RECORDED = new Set([
  'age',
  'cache-status',
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Between members of a list, and between directives of a policy. */
const SEPARATOR = /^\s*[,;]/;
/** What a cache goes by, and what says how the body is to be read: recorded as the handler left it. */
const WHOLE = new Set(['cache-control', 'content-type', 'etag']);

/**
 * What of a handler's headers belongs into an entry.
 * @param before the header as it was without the handler
 */
export function recordedHead(
  status: number,
  written: ShadowHeaders,
  before: (name: string) => HeaderValue | undefined,
): ResponseHead {
  const named = listOf(written.get('connection')?.value).flatMap((line) => line.toLowerCase().split(','));
  const ofTheConnection = new Set(named.map((name) => name.trim()));
  const headers: RecordedHeader[] = [];
  for (const [name, header] of written.entries()) {
    if (NOT_RECORDED.has(name) || name.startsWith('proxy-') || ofTheConnection.has(name)) continue;
    if (header) {
      const own = ownPart(name, header.value, before(name));
      if (own !== undefined) headers.push(own);
    }
    // No values: it was there and the handler took it away.
    else if (before(name) !== undefined) headers.push([name, []]);
  }
  return { status, headers };
}

/**
 * A header without what stood there before the handler ran: that is each request's own, a nonce or its timings, and comes again
 * with the next one. Undefined: the handler changed nothing.
 */
function ownPart(
  name: string,
  value: HeaderValue,
  before: HeaderValue | undefined,
): RecordedHeader | undefined {
  if (before === undefined || WHOLE.has(name)) return [name, value];
  if (typeof value === 'string' && typeof before === 'string') {
    if (value === before) return undefined;
    const rest = value.startsWith(before) ? value.slice(before.length) : '';
    return SEPARATOR.test(rest) ? [name, rest, 'add'] : [name, value];
  }
  const [lines, old] = [listOf(value), listOf(before)];
  if (!old.every((line, i) => lines[i] === line)) return [name, value];
  return lines.length === old.length ? undefined : [name, lines.slice(old.length), 'add'];
}
