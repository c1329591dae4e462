import { LRUCache } from 'lru-cache';
import { EncodedPayload, MOST_KEPT, type StoredEntry } from '../entry/index.js';
import type { Clock } from '../ports.js';
import type { Signal, Store } from '../store.js';
import type { NearLimits } from './near-options.js';

/** What a copy takes beside its bytes: the parsed head, its place, the list's own links. */
const KEEPING = 500;
/** Of longer ones nothing is kept beside the bytes: it would be much memory. */
const SMALL = 64 * 1024;

interface Copy {
  readonly entry: StoredEntry;
  /** Monotonic times: when it was made, and until when it is fresh and believed. */
  readonly since: number;
  readonly until: number;
}

/** A read under way. What it brings becomes a copy only if nothing was heard about the key meanwhile. */
export interface Fill {
  isDead: boolean;
}

const NO_FILL: Fill = { isDead: true };

/**
 * Copies of fresh entries in this process, by what tells entries apart. They are believed while the store proves, less than
 * `maxLag` ago, that every change was told here; a change of a key drops its copy and kills the reads under way, a gap drops
 * all. What a process publishes itself becomes a copy by the next read only.
 */
export class NearCache {
  /** Made with the first one: the list takes its memory at once. */
  private copies: LRUCache<string, Copy> | undefined;
  private readonly filling = new Map<string, Set<Fill>>();
  private readonly counters = { hits: 0, flushes: 0 };

  constructor(
    private readonly store: Pick<Store, 'now' | 'toldUntil'>,
    private readonly clock: Clock,
    private readonly maxLag: number,
    private readonly limits: NearLimits,
    /** Whether entries whose policy does not say have copies. */
    private readonly isDefault: boolean,
  ) {}

  get stats(): {
    readonly entries: number;
    readonly bytes: number;
    readonly hits: number;
    readonly flushes: number;
  } {
    const { size: entries = 0, calculatedSize: bytes = 0 } = this.copies ?? {};
    return { entries, bytes, ...this.counters };
  }

  /** The longest a copy under this policy is believed, ms; 0: there is none. */
  lifeOf(wanted: number | undefined): number {
    return Math.min(wanted ?? (this.isDefault ? Infinity : 0), this.limits.ttl);
  }

  /**
   * A copy that is fresh; whether what it depends on still stands is for others to say.
   * @param now monotonic, ms: asking the clock is the dearest part of a hit
   * @param life the longest this reader believes one, ms
   */
  find(place: string, now = this.clock.now(), life = Infinity): StoredEntry | undefined {
    const copy = this.copies?.get(place);
    if (copy === undefined || !this.isTold(now)) return undefined;
    if (now - copy.since >= life) return undefined;
    if (copy.until > now && copy.entry.header.softAt > this.store.now(now)) return copy.entry;
    this.copies?.delete(place);
    return undefined;
  }

  hit(): void {
    this.counters.hits += 1;
  }

  /** Before the read is written to the socket. */
  begin(place: string): Fill {
    if (!this.isTold()) return NO_FILL;
    const fill: Fill = { isDead: false };
    const those = this.filling.get(place);
    if (those) those.add(fill);
    else this.filling.set(place, new Set([fill]));
    return fill;
  }

  /** @param entry undefined: nothing came of it */
  end(place: string, fill: Fill, entry: StoredEntry | undefined, ttl: number): void {
    if (fill === NO_FILL) return;
    const those = this.filling.get(place);
    if (those?.delete(fill) && those.size === 0) this.filling.delete(place);
    if (entry === undefined || fill.isDead || entry.softened || !this.isTold()) return;
    const life = Math.min(ttl, entry.header.softAt - this.store.now());
    if (life <= 0) return;
    const since = this.clock.now();
    this.copies ??= listOf(this.limits);
    this.copies.set(place, { entry: forKeeping(entry), since, until: since + life });
  }

  /** The entry changed, or may have. */
  drop(place: string): void {
    this.copies?.delete(place);
    const those = this.filling.get(place);
    if (those === undefined) return;
    for (const fill of those) fill.isDead = true;
    this.filling.delete(place);
  }

  dropAll(): void {
    this.copies?.clear();
    for (const those of this.filling.values()) for (const fill of those) fill.isDead = true;
    this.filling.clear();
  }

  /** Returns whether all copies went; false where none was ever made. */
  heed(signal: Signal): boolean {
    if (signal.kind === 'entry') this.drop(signal.place);
    if (signal.kind !== 'gap') return false;
    this.dropAll();
    if (this.copies === undefined) return false;
    this.counters.flushes += 1;
    return true;
  }

  private isTold(now = this.clock.now()): boolean {
    return now - this.store.toldUntil(now) < this.maxLag;
  }
}

function listOf({ maxEntries, maxBytes }: NearLimits): LRUCache<string, Copy> {
  return new LRUCache({
    max: maxEntries,
    maxSize: maxBytes,
    sizeCalculation: ({ entry }, place) =>
      entry.headLength + sizeOf(entry.payload.bytes) + 2 * place.length + KEEPING,
  });
}

/** Times its bytes. */
function timesKept(bytes: Buffer): number {
  return bytes.length <= SMALL ? MOST_KEPT : 0;
}

function sizeOf(bytes: Buffer): number {
  return bytes.length * (1 + timesKept(bytes));
}

function forKeeping(entry: StoredEntry): StoredEntry {
  const { codec, bytes, serializer } = entry.payload;
  const payload = new EncodedPayload(codec, ownBytes(bytes), serializer, timesKept(bytes));
  return { ...entry, payload };
}

/** A client's reply may be a slice of all that arrived with it: kept as it is, it would keep all of that. */
function ownBytes(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength <= 2 * bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}
