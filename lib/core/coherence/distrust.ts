import type { FoundEntry } from '../entry/index.js';
import type { EntryKey } from '../keys/index.js';
import type { Clock } from '../ports.js';
import type { Store } from '../store.js';

/** What a change concerned. */
export type Subject =
  | { readonly kind: 'key'; readonly id: string }
  | { readonly kind: 'tag'; readonly id: string }
  | { readonly kind: 'scope'; readonly name: string };

/** How far two estimates of the store's time may be apart, ms. */
const CLOCK_SLACK = 50;

/**
 * Entries that this process no longer believes: a change of them was asked for and not acknowledged, so what the store holds
 * may be from before. What was loaded after the change is believed.
 */
export class Distrust {
  /** Monotonic times: the store's clock may only be a guess when a change fails, and be known when an entry is judged. */
  private readonly since = new Map<string, number>();
  /** Everything loaded before this time is distrusted: single changes could not be remembered. */
  private before = -Infinity;

  constructor(
    private readonly clock: Clock,
    private readonly store: Pick<Store, 'now'>,
  ) {}

  /** `at`: monotonic time of the change. */
  add(subject: Subject, at: number): void {
    this.since.set(nameOf(subject), at + CLOCK_SLACK);
  }

  /** The store acknowledged the change. */
  remove(subject: Subject): void {
    this.since.delete(nameOf(subject));
  }

  /** In place of a change that can't be remembered. For good: nothing will ever acknowledge it. */
  addAllBefore(at: number): void {
    this.before = Math.max(this.before, at + CLOCK_SLACK);
  }

  rejects(entry: FoundEntry, key: EntryKey, name: string): boolean {
    if (this.since.size === 0 && this.before === -Infinity) return false;
    const { tags } = entry.header;
    const loadStart = entry.header.loadStart - this.store.now() + this.clock.now();
    if (loadStart <= this.before) return true;
    const is = (subject: Subject): boolean => loadStart <= (this.since.get(nameOf(subject)) ?? -Infinity);
    if (is({ kind: 'key', id: key.id }) || is({ kind: 'scope', name: '' })) return true;
    if (name !== '' && is({ kind: 'scope', name })) return true;
    return tags.some(({ id }) => is({ kind: 'tag', id }));
  }
}

export function nameOf(subject: Subject): string {
  return subject.kind === 'scope' ? `scope ${subject.name}` : `${subject.kind} ${subject.id}`;
}
