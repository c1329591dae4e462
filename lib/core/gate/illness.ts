/**
 * What a server says of a command that it would say of any such command, and goes on saying until its state changes. Inside a
 * script a forbidden command has a text instead of a code: Redis 7.0 has the first, later ones the second.
 */
const REFUSALS =
  /\b(READONLY|OOM|MISCONF|NOPERM|NOAUTH|WRONGPASS|LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|NOREPLICAS)\b|can't run this command|ACL failure in script/;
/** Every error reply begins with a code; that of a script may carry another one within. */
const REPLY = /^[A-Z]{3,}\b/;
const LOOKED_AT = 300;
/** What a client with a deadline of its own says. */
const TIMED_OUT = /^Command timed out/;
/** A command or key that this user may not have: concerns one operation. */
const FORBIDDEN = 'NOPERM';

/**
 * Why an operation failed. `silent`: no answer in time, ours or the client's. `refused`: an answer that the next such operation would get too, and
 * its code. `one`: an error of this command alone. `lost`: never sent, or its connection broke, which the connection itself
 * reports.
 */
export type Illness =
  | { readonly kind: 'silent' | 'one' | 'lost' }
  | { readonly kind: 'refused'; readonly code: string; readonly message: string };

/** `cause` undefined: none came in time. */
export function illnessOf(cause: unknown): Illness {
  if (cause === undefined) return { kind: 'silent' };
  if (!(cause instanceof Error)) return { kind: 'lost' };
  const message = cause.message.slice(0, LOOKED_AT);
  if (TIMED_OUT.test(message)) return { kind: 'silent' };
  if (!REPLY.test(message)) return { kind: 'lost' };
  const refusal = REFUSALS.exec(message);
  return refusal ? { kind: 'refused', code: refusal[1] ?? FORBIDDEN, message } : { kind: 'one' };
}

/** Whether a refusal tells of the server as a whole, and not of one operation. */
export function isGeneral(code: string): boolean {
  return code !== FORBIDDEN;
}

/** Whether the server itself said so. */
export function isAnswer(cause: unknown): boolean {
  const { kind } = illnessOf(cause);
  return kind === 'refused' || kind === 'one';
}
