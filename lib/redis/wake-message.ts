import type { Wake } from '../core/store.js';

const KIND = { p: 'published', i: 'invalidated', e: 'ended' } as const;

/** Letter, token (`ended` only), length of the id, the id, then the outcome: no separator that either could contain. */
const FORMAT = /^([pie]) ([\w-]*) (\d+) /;

export const publishedMessage = (id: string): string => `p  ${id.length} ${id}`;
export const invalidatedMessage = (id: string): string => `i  ${id.length} ${id}`;
export const endedMessage = (id: string, token: string, outcome: string): string =>
  `e ${token} ${id.length} ${id}${outcome}`;

/** Reads what the functions above wrote; undefined for anything else on the channel. */
export function parseWakeMessage(text: string): { readonly id: string; readonly wake: Wake } | undefined {
  const match = FORMAT.exec(text);
  if (match === null) return undefined;
  const [head, letter, token = '', length] = match;
  const kind = KIND[letter as keyof typeof KIND]; // the expression admits these letters only
  const end = head.length + Number(length);
  if (end > text.length) return undefined;
  const id = text.slice(head.length, end);
  return { id, wake: kind === 'ended' ? { kind, token, outcome: text.slice(end) } : { kind } };
}
