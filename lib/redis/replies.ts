import type { AcquireReply, CommitReply, TouchReply } from '../core/store.js';
import { LONGEST_HOLD_OFF_MS } from './scripts/bounds.js';

/** A script's array reply. Numbers in it may be strings (`stringNumbers` of a client handed in). */
export function fields(reply: unknown): readonly unknown[] {
  if (Array.isArray(reply)) return reply;
  throw new Error(`A script answered ${typeof reply} where a list was expected`);
}

export function acquireReply(reply: readonly unknown[]): AcquireReply {
  const [code, time, left, text] = reply;
  const now = Number(time);
  const ms = Number(left);
  switch (code) {
    case 'hit':
    case 'owner':
    case 'free':
      return { code, now };
    case 'wait':
      return { code, now, ms, token: String(text) };
    case 'resting':
    case 'heldOff':
      return { code, now, ms };
    case 'outcome':
      return { code, now, outcome: String(text) };
    default:
      throw new Error(`The script acquire answered ${String(code)}`);
  }
}

export const commitReply = (code: unknown): CommitReply =>
  named(code, ['fenced', 'stored', 'already', 'missing', 'older']);

export const touchReply = (code: unknown): TouchReply => named(code, ['fenced', 'stored', 'already', 'gone']);

function named<T extends string>(code: unknown, names: readonly T[]): T {
  const name = names[Number(code)];
  if (name === undefined) throw new Error(`A script answered ${String(code)}`);
  return name;
}

/** A length of time as Redis takes it: whole milliseconds, at least one. */
export function wholeMs(ms: number): number {
  return Math.max(1, Math.ceil(ms));
}

/** The same for a hold-off, which may be none, and has an end that fits into 13 digits. */
export function wholeHoldOffMs(ms: number): number {
  return Math.min(Math.max(0, Math.ceil(ms)), LONGEST_HOLD_OFF_MS);
}
