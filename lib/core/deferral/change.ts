import type { Subject } from '../coherence/index.js';
import type { Request } from '../request.js';

/** What an event says of a change. */
export type About = Pick<Request, 'key' | 'name'>;

/** One explicit change of what is stored, ready to be made, and to be made again. */
export interface Change {
  readonly what: 'invalidate' | 'expire' | 'set' | 'invalidateTags' | 'expireTags' | 'clear';
  readonly subject: Subject;
  readonly about: About;
  /** Nothing may be stored for so long after it, ms. */
  readonly holdOffMs: number;
  /** Makes it in the store. Rejects when the store did not acknowledge it. */
  apply(): Promise<void>;
  /** What is tried again in its place: the new value of a `set` may be old by then. */
  readonly inItsPlace?: Change;
}

/** Whether old values are still served after it. */
export function isSoft({ what }: Change): boolean {
  return what === 'expire' || what === 'expireTags';
}

/** How an error names what was to be changed. */
export function labelOf({ subject }: Change): string {
  if (subject.kind === 'key') return subject.id;
  if (subject.kind === 'tag') return `tag ${subject.id}`;
  return subject.name === '' ? 'everything' : `all entries of ${subject.name}`;
}
