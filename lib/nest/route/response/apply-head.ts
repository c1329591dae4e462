import type { ResponseHead } from '../contracts.js';
import type { HeaderValue, Reply } from './reply.js';
import { listOf } from './shadow-headers.js';
import { varyWith } from './vary.js';

/**
 * Headers that describe a body (RFC 9110, 8): a 304 has none. Listed one by one, as `content-security-policy` and
 * `content-location` stay.
 */
const OF_THE_BODY = [
  'content-type',
  'content-length',
  'content-encoding',
  'content-language',
  'content-range',
  'content-disposition',
  'content-digest',
  'content-md5',
  'repr-digest',
  'transfer-encoding',
];

/** Gives a response status and headers of a recorded one. A header without values was taken away by the handler. */
export function applyHead(reply: Reply, { status, headers }: ResponseHead): void {
  reply.status = status;
  for (const [name, value, how] of headers) {
    if (how === 'add') add(reply, name, value);
    else if (value.length === 0 && typeof value !== 'string') reply.remove(name);
    else reply.set(name, value);
  }
}

/** As one line where it was one, and as lines where there are several. `Vary` names nothing twice. */
function add(reply: Reply, name: string, value: HeaderValue): void {
  const there = reply.get(name);
  if (name === 'vary') reply.set(name, varyWith(there, listOf(value)));
  else if (typeof value !== 'string') reply.set(name, [...listOf(there), ...value]);
  else if (there === undefined) reply.set(name, value.replace(/^\s*[,;]\s*/, ''));
  else reply.set(name, listOf(there).join(', ') + value);
}

/** Adds `Set-Cookie` lines to those that are there. */
export function addCookies(reply: Reply, cookies: readonly string[]): void {
  if (cookies.length === 0) return;
  if (reply.platform === 'fastify') return reply.set('set-cookie', cookies); // Fastify adds by itself
  const there = reply.get('set-cookie') ?? [];
  reply.set('set-cookie', [...(typeof there === 'string' ? [there] : there), ...cookies]);
}

/**
 * Makes the response a 304. What guides a cache stays (`Cache-Control`, `Content-Location`, `ETag`, `Expires`, `Vary`; RFC 9110,
 * 15.4.5). The body is the caller's to leave out.
 */
export function toNotModified(reply: Reply): void {
  reply.status = 304;
  for (const name of OF_THE_BODY) if (reply.get(name) !== undefined) reply.remove(name);
}
