import {
  isReadable,
  parseEntry,
  rejectedIdOf,
  unpacked,
  type FoundEntry,
  type PackedEntry,
  type Packing,
  type StoredEntry,
} from '../entry/index.js';
import { StoreFailure } from '../gate/store-failure.js';
import type { Budget } from '../gate/store-gate.js';
import type { EntryKey } from '../keys/index.js';
import { LATE } from '../lane.js';
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
  readonly policy?: {
    /** The longest a copy of it is believed in this process, ms; 0: none is kept. Undefined: as the cache says. */
    readonly l1: number | undefined;
  };
}

/** Tells whether an entry still counts: nothing it depends on was invalidated or cleared since before its load began. */
export class Vetting {
  constructor(
    private readonly epochs: Epochs,
    private readonly tags: TagBook,
    private readonly distrust: Distrust,
    private readonly packing: Packing,
  ) {}

  /**
   * Asks about the epochs while the entry itself is read, if they have not been asked for lately. What it returns is waited
   * for before an entry is judged.
   */
  prepare(now?: number): Promise<void> | undefined {
    if (!this.epochs.isDue(now)) return undefined;
    const asked = this.epochs.ask();
    return this.epochs.isCertain ? undefined : asked;
  }

  /** Judges what was read. @throws StoreFailure when the tags can't be asked for, or the value can't be unpacked in time */
  vet(bytes: Buffer | null, { key, name }: EntryOf, budget: Budget): ReadAnswer | Promise<ReadAnswer> {
    const foundId = rejectedIdOf(bytes);
    const entry = parseEntry(bytes, key);
    if (entry && this.epochs.isUnknown) throw new StoreFailure('The store did not tell what was cleared');
    if (!entry || this.isCleared(entry, name) || this.distrust.rejects(entry, key, name))
      return { entry: undefined, foundId };
    if (entry.header.tags.length === 0 || this.tags.confirms(entry.header.tags))
      return this.readable(entry, foundId);
    return this.vetTags(entry, foundId, budget);
  }

  /**
   * Whether an entry read before surely counts still, by what is known here. Keeps that up to date along the way; false: only
   * the store can say.
   */
  stands(entry: StoredEntry, { key, name }: EntryOf, now: number): boolean {
    if (this.epochs.isUnknown || this.prepare(now) !== undefined || this.isCleared(entry, name)) return false;
    if (this.distrust.rejects(entry, key, name)) return false;
    return entry.header.tags.length === 0 || this.tags.confirms(entry.header.tags);
  }

  private isCleared(entry: FoundEntry, name: string): boolean {
    return entry.header.epoch < this.epochs.least(name);
  }

  /** What is remembered proves that a tag is unchanged; that it has changed only the store can say. */
  private async vetTags(entry: FoundEntry, foundId: string, budget: Budget): Promise<ReadAnswer> {
    const { tags } = entry.header;
    const states = await this.tags.read(
      tags.map(({ id }) => id),
      budget,
    );
    const isStanding = tags.every((tag, index) => states[index]?.hard === tag.hard);
    return isStanding ? this.readable(softenedBy(entry, states), foundId) : { entry: undefined, foundId };
  }

  /** Last of all: what does not count is not worth unpacking. */
  private readable(entry: FoundEntry, foundId: string): ReadAnswer | Promise<ReadAnswer> {
    return isReadable(entry) ? { entry, foundId } : this.unpack(entry, foundId);
  }

  private async unpack(entry: PackedEntry, foundId: string): Promise<ReadAnswer> {
    const plain = await this.packing.unpack(entry.payload);
    if (plain === LATE) throw new StoreFailure('The entry could not be unpacked');
    return { entry: plain && unpacked(entry, plain), foundId };
  }
}

/** The entry as it is after the soft expiry of its tags. */
function softenedBy<E extends FoundEntry>(entry: E, states: readonly (TagState | undefined)[]): E {
  const { header } = entry;
  const expiries = states.flatMap((state, index) =>
    state === undefined || state.soft === header.tags[index]?.soft ? [] : [state.softAt],
  );
  const softAt = Math.min(header.softAt, ...expiries);
  return softAt === header.softAt ? entry : { ...entry, softened: true, header: { ...header, softAt } };
}
