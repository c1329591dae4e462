import type { Signal, Wake } from '../core/store.js';
import { parseScope, scopeText } from './epoch-lines.js';
import { parseTagRecord } from './tag-record.js';

const WAKE = { p: 'published', i: 'invalidated', e: 'ended' } as const;

/** Letter, token (`ended` only), length of the subject, the subject, the rest: no separator that they could contain. */
const FORMAT = /^([pietc]) ([\w-]*) (\d+) /;

export const publishedMessage = (id: string): string => `p  ${id.length} ${id}`;
export const invalidatedMessage = (id: string): string => `i  ${id.length} ${id}`;
export const endedMessage = (id: string, token: string, outcome: string): string =>
  `e ${token} ${id.length} ${id}${outcome}`;

/** A script appends the tag's record. */
export const tagMessage = (id: string): string => `t  ${id.length} ${id}`;

/** A script appends the epoch. */
export function epochMessage(scope: string): string {
  const text = scopeText(scope);
  return `c  ${text.length} ${text}`;
}

/** A wake-up for those who wait under `id`, or a signal for all who watch. */
export type Message =
  { readonly id: string; readonly wake: Wake; readonly signal?: undefined } | { readonly signal: Signal };

/**
 * Reads what the functions above wrote; undefined for anything else on the channel.
 * @param latest what an epoch may be at most, server ms
 */
export function parseMessage(text: string, latest = Number.MAX_SAFE_INTEGER): Message | undefined {
  const match = FORMAT.exec(text);
  if (match === null) return undefined;
  const [head, letter, token = '', length] = match;
  const end = head.length + Number(length);
  if (end > text.length) return undefined;
  const subject = text.slice(head.length, end);
  const rest = text.slice(end);
  if (letter === 't') return tagSignal(subject, rest);
  if (letter === 'c') return epochSignal(subject, rest, latest);
  const kind = WAKE[letter as keyof typeof WAKE]; // the expression admits these letters only
  return { id: subject, wake: kind === 'ended' ? { kind, token, outcome: rest } : { kind } };
}

function tagSignal(id: string, record: string): Message | undefined {
  const state = parseTagRecord(record);
  return state === undefined ? undefined : { signal: { kind: 'tag', id, state } };
}

function epochSignal(text: string, digits: string, latest: number): Message | undefined {
  const scope = parseScope(text);
  if (scope === undefined || !/^\d+$/.test(digits) || Number(digits) > latest) return undefined;
  return { signal: { kind: 'epoch', scope, epoch: Number(digits) } };
}
