import { parseEntry, rejectedIdOf, type StoredEntry } from '../entry/index.js';
import { StoreFailure } from '../gate/store-failure.js';
import type { Budget } from '../gate/store-gate.js';
import type { EntryKey } from '../keys/index.js';
import type { TagState } from '../store.js';
import type { Distrust } from './distrust.js';
import type { Epochs } from './epochs.js';
import type { TagBook } from './tag-book.js';

/** One answer of the store about a key. */
export interface ReadAnswer {
  /** Undefined: nothing is there that could be served to anybody. */
  readonly entry: StoredEntry | undefined;
  /** What exactly was found, should it prove unusable. */
  readonly foundId: string;
}

/** Whose entry it is. */
export interface EntryOf {
  readonly key: EntryKey;
  readonly name: string;
}

/** Tells whether an entry still counts: nothing it depends on was invalidated or cleared since before its load began. */
export class Vetting {
  constructor(
    private readonly epochs: Epochs,
    private readonly tags: TagBook,
    private readonly distrust: Distrust,
  ) {}

  /**
   * Asks about the epochs while the entry itself is read, if they have not been asked for lately. What it returns is waited
   * for before an entry is judged.
   */
  prepare(): Promise<void> | undefined {
    if (!this.epochs.isDue) return undefined;
    const asked = this.epochs.ask();
    return this.epochs.isCertain ? undefined : asked;
  }

  /** Judges what was read. @throws StoreFailure when the tags can't be asked for */
  vet(bytes: Buffer | null, { key, name }: EntryOf, budget: Budget): ReadAnswer | Promise<ReadAnswer> {
    const foundId = rejectedIdOf(bytes);
    const entry = parseEntry(bytes, key);
    if (entry && this.epochs.isUnknown) throw new StoreFailure('The store did not tell what was cleared');
    if (!entry || this.isCleared(entry, name) || this.distrust.rejects(entry, key, name))
      return { entry: undefined, foundId };
    if (entry.header.tags.length === 0) return { entry, foundId };
    return this.tags.confirms(entry.header.tags) ? { entry, foundId } : this.vetTags(entry, foundId, budget);
  }

  private isCleared(entry: StoredEntry, name: string): boolean {
    return entry.header.epoch < this.epochs.least(name);
  }

  /** What is remembered proves that a tag is unchanged; that it has changed only the store can say. */
  private async vetTags(entry: StoredEntry, foundId: string, budget: Budget): Promise<ReadAnswer> {
    const { tags } = entry.header;
    const states = await this.tags.read(
      tags.map(({ id }) => id),
      budget,
    );
    const isStanding = tags.every((tag, index) => states[index]?.hard === tag.hard);
    return { entry: isStanding ? softenedBy(entry, states) : undefined, foundId };
  }
}

/** The entry as it is after the soft expiry of its tags. */
function softenedBy(entry: StoredEntry, states: readonly (TagState | undefined)[]): StoredEntry {
  const { header } = entry;
  const expiries = states.flatMap((state, index) =>
    state === undefined || state.soft === header.tags[index]?.soft ? [] : [state.softAt],
  );
  const softAt = Math.min(header.softAt, ...expiries);
  return softAt === header.softAt ? entry : { ...entry, softened: true, header: { ...header, softAt } };
}
