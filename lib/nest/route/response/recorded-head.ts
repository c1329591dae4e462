import type { ResponseHead } from '../contracts.js';
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
  const headers: [string, HeaderValue][] = [];
  for (const [name, header] of written.entries()) {
    if (NOT_RECORDED.has(name) || name.startsWith('proxy-') || ofTheConnection.has(name)) continue;
    if (header) headers.push([name, header.value]);
    // No values: it was there and the handler took it away.
    else if (before(name) !== undefined) headers.push([name, []]);
  }
  return { status, headers };
}
