import type { Expiring } from './sweeper.js';

/** What a key costs beside its bytes: objects, the table's slot, the key's own text. */
const OVERHEAD = 256;

export interface StoredEntry {
  readonly bytes: Buffer;
  /** Store time, ms, from which on it is gone. */
  readonly expiresAt: number;
}

/** The entries: expiring, and bounded in number and bytes, the least recently used first out. */
export class EntryTable implements Expiring {
  /** In order of use: the first is the least recently used one. */
  readonly #entries = new Map<string, StoredEntry>();
  #bytes = 0;

  constructor(
    private readonly maxEntries: number,
    private readonly maxBytes: number,
  ) {}

  get size(): number {
    return this.#entries.size;
  }

  /** Without counting as a use. */
  peek(id: string, now: number): StoredEntry | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined || now < entry.expiresAt) return entry;
    this.#drop(id, entry);
    return undefined;
  }

  use(id: string, now: number): StoredEntry | undefined {
    const entry = this.peek(id, now);
    if (entry === undefined) return undefined;
    this.#entries.delete(id);
    this.#entries.set(id, entry);
    return entry;
  }

  set(id: string, entry: StoredEntry): void {
    this.delete(id);
    // Nothing else would be left, and it would not stay itself either.
    if (weight(id, entry) > this.maxBytes) return;
    this.#entries.set(id, { bytes: unpooled(entry.bytes), expiresAt: entry.expiresAt });
    this.#bytes += weight(id, entry);
    this.#evict();
  }

  delete(id: string): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) this.#drop(id, entry);
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  keys(): IterableIterator<string> {
    return this.#entries.keys();
  }

  expire(id: string, now: number): void {
    this.peek(id, now);
  }

  #evict(): void {
    for (const [id, entry] of this.#entries) {
      if (this.#entries.size <= this.maxEntries && this.#bytes <= this.maxBytes) return;
      this.#drop(id, entry);
    }
  }

  #drop(id: string, entry: StoredEntry): void {
    this.#entries.delete(id);
    this.#bytes -= weight(id, entry);
  }
}

function weight(id: string, entry: StoredEntry): number {
  return entry.bytes.length + 2 * id.length + OVERHEAD;
}

/** A slice would keep the whole block alive it was cut from, which no bound counts. */
function unpooled(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}
