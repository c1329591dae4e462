import type { EntryKey } from '../core/keys/index.js';
import type { Cancel, Clock, Runtime } from '../core/ports.js';
import type {
  AcquireReply,
  AcquireRequest,
  CommitReply,
  CommitRequest,
  LeaseState,
  PutRequest,
  ReleaseRequest,
  Signal,
  Store,
  StoredFacts,
  TagState,
  TouchReply,
  TouchRequest,
  Wake,
} from '../core/store.js';
import { EntryDesk } from './entry-desk.js';
import { EntryTable } from './entry-table.js';
import { EpochTable } from './epoch-table.js';
import { LeaseTable } from './lease-table.js';
import { SignalBoard } from './signal-board.js';
import { Sweeper } from './sweeper.js';
import { TagTable } from './tag-table.js';
import { VariantTable } from './variant-table.js';
import { WakeBoard } from './wake-board.js';

export interface MemoryStoreOptions {
  readonly runtime: Runtime;
  /** Entries kept at most, the least recently used first out. Default 10,000. */
  readonly maxEntries?: number;
  /** Bytes kept at most, keys and bookkeeping estimated along. Default 256 MiB. */
  readonly maxBytes?: number;
  /** Tags kept at most, the least recently used first out; entries under a dropped one are misses. Default 100,000. */
  readonly maxTags?: number;
  /** The wall clock when the store is made, epoch ms; its time goes on from there monotonically. Default: now. */
  readonly epochMs?: number;
}

/** A {@link Store} in this process: the same leases, fences, markers and wake-ups as in Redis, for one process. */
export function createMemoryStore(options: MemoryStoreOptions): Store {
  return new MemoryStore(options);
}

/** Scopes that can be cleared apart from each other. More of them than methods in a program is a mistake. */
const MAX_SCOPES = 10_000;

/** How far an epoch may lie ahead, ms: no entry could reach one that is absurd, and everything would be dead for good. */
const EPOCH_AHEAD = 86_400_000;

/** Everything between two awaits is atomic in one process, so each operation does all its work before its first one. */
class MemoryStore implements Store {
  readonly kind = 'memory';
  readonly clockSkew = 0;
  readonly #clock: Clock;
  readonly #entries: EntryTable;
  readonly #leases = new LeaseTable();
  readonly #desk: EntryDesk;
  readonly #tags: TagTable;
  readonly #epochs = new EpochTable(MAX_SCOPES);
  readonly #variants = new VariantTable();
  readonly #signals: SignalBoard;
  readonly #wakes: WakeBoard;
  readonly #sweeper: Sweeper;
  /** Store time minus monotonic time. */
  readonly #offset: number;
  #closed = false;

  constructor({
    runtime,
    maxEntries = 10_000,
    maxBytes = 256 * 1024 * 1024,
    maxTags = 100_000,
    epochMs = Date.now(),
  }: MemoryStoreOptions) {
    this.#entries = new EntryTable(maxEntries, maxBytes);
    this.#tags = new TagTable(runtime.random, maxTags);
    this.#wakes = new WakeBoard(runtime);
    this.#desk = new EntryDesk(this.#entries, this.#leases, this.#wakes);
    this.#signals = new SignalBoard(runtime.log);
    const expiring = [this.#entries, this.#leases, this.#tags, this.#variants];
    this.#sweeper = new Sweeper(runtime, expiring, () => this.now());
    this.#offset = epochMs - runtime.clock.now();
    this.#clock = runtime.clock;
  }

  now(at = this.#clock.now()): number {
    return Math.floor(at + this.#offset);
  }

  /** The stored bytes themselves: to be read, never written to. */
  async read(key: EntryKey): Promise<Buffer | null> {
    return this.#entries.use(placeOf(key), this.#enter())?.bytes ?? null;
  }

  async acquire(key: EntryKey, request: AcquireRequest): Promise<AcquireReply> {
    return this.#swept(this.#desk.acquire(placeOf(key), request, this.#enter()));
  }

  async commit(key: EntryKey, request: CommitRequest): Promise<CommitReply> {
    return this.#swept(this.#desk.commit(placeOf(key), request, this.#enter()));
  }

  async touch(key: EntryKey, request: TouchRequest): Promise<TouchReply> {
    return this.#swept(this.#desk.touch(placeOf(key), request, this.#enter()));
  }

  async renew(key: EntryKey, token: string, leaseMs: number): Promise<LeaseState> {
    return this.#desk.renew(placeOf(key), token, leaseMs, this.#enter());
  }

  async release(key: EntryKey, request: ReleaseRequest): Promise<boolean> {
    return this.#swept(this.#desk.release(placeOf(key), request, this.#enter()));
  }

  async put(key: EntryKey, request: PutRequest): Promise<'stored' | 'late'> {
    return this.#swept(this.#desk.put(placeOf(key), request, this.#enter()));
  }

  async write(key: EntryKey, bytes: Buffer, hardMs: number): Promise<void> {
    this.#swept(this.#entries.set(placeOf(key), { bytes, expiresAt: this.#enter() + hardMs }));
  }

  async invalidate(key: EntryKey, holdOffMs: number): Promise<void> {
    this.#swept(this.#desk.invalidate(placeOf(key), Math.ceil(holdOffMs), this.#enter()));
  }

  async expire(key: EntryKey): Promise<void> {
    this.#desk.expire(placeOf(key), this.#enter());
  }

  async peek(key: EntryKey): Promise<StoredFacts> {
    return this.#desk.peek(placeOf(key), this.#enter());
  }

  listen(key: EntryKey, onWake: (wake: Wake) => void): Cancel {
    return this.#closed ? () => {} : this.#wakes.listen(placeOf(key), onWake);
  }

  pushUp(): boolean {
    return !this.#closed;
  }

  async tags(ids: readonly string[]): Promise<readonly (TagState | undefined)[]> {
    const now = this.#enter();
    return ids.map((id) => this.#tags.get(id, now));
  }

  async holdTags(ids: readonly string[], lifeMs: number): Promise<readonly TagState[]> {
    const now = this.#enter();
    return this.#swept(ids.map((id) => this.#tags.hold(id, lifeMs, now)));
  }

  async invalidateTag(id: string, holdOffMs: number): Promise<TagState> {
    const state = this.#swept(this.#tags.invalidate(id, Math.ceil(holdOffMs), this.#enter()));
    this.#signals.tell({ kind: 'tag', id, state });
    return state;
  }

  async expireTag(id: string): Promise<void> {
    const state = this.#tags.soften(id, this.#enter());
    if (state !== undefined) this.#signals.tell({ kind: 'tag', id, state });
  }

  async epochs(): Promise<ReadonlyMap<string, number>> {
    this.#enter();
    return this.#epochs.all();
  }

  async clear(scope: string): Promise<number> {
    const epoch = this.#epochs.clear(scope, this.#enter());
    this.#signals.tell({ kind: 'epoch', scope, epoch });
    return epoch;
  }

  async raiseEpochs(epochs: ReadonlyMap<string, number>): Promise<void> {
    const latest = this.#enter() + EPOCH_AHEAD;
    for (const [scope, epoch] of epochs) if (epoch <= latest) this.#epochs.raise(scope, epoch);
  }

  async variants(name: string): Promise<readonly string[]> {
    return this.#variants.list(name, this.#enter());
  }

  async announce(name: string, variant: string, lifeMs: number): Promise<void> {
    this.#swept(this.#variants.announce(name, variant, this.#enter() + lifeMs));
  }

  watch(onSignal: (signal: Signal) => void): Cancel {
    return this.#closed ? () => {} : this.#signals.watch(onSignal);
  }

  /** Signals are handed over within the change itself. */
  toldUntil(): number {
    return this.#closed ? -Infinity : this.#clock.now();
  }

  obstacle(): undefined {}

  serverOf(): string {
    return '';
  }

  async probe(): Promise<void> {}

  reconnect(): void {}

  async open(): Promise<void> {}

  async close(): Promise<void> {
    this.#closed = true;
    this.#sweeper.stop();
    this.#wakes.clear();
    this.#signals.clear();
    for (const table of [this.#entries, this.#leases, this.#tags, this.#variants]) table.clear();
  }

  /** The time of an operation. */
  #enter(): number {
    if (this.#closed) throw new Error('The memory store was used after close(): it holds nothing any more.');
    return this.now();
  }

  /** After an operation that may have stored something. */
  #swept<T>(result: T): T {
    this.#sweeper.start();
    return result;
  }
}

/** Where an entry lies in the tables. No id holds a space. */
function placeOf(key: EntryKey): string {
  return key.variant === '' ? key.id : `${key.id} ${key.variant}`;
}
