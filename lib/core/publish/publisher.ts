import type { Baseline, Baselines } from '../coherence/index.js';
import { encodeHeader, type EntryHeader, type EntryTag, type Packing } from '../entry/index.js';
import type { Counters, EventBus } from '../events/index.js';
import type { StoreGate } from '../gate/index.js';
import { placeOf, type EntryKey } from '../keys/index.js';
import type { Lease } from '../load/index.js';
import type { NearCache } from '../near/index.js';
import type { Request } from '../request.js';
import type { CommitReply } from '../store.js';
import type { Variants } from '../variants.js';
import { packedDraft } from './packed.js';
import type { Draft } from './plan.js';

/**
 * What the store said of a write. `older`: a greater source version is stored, the lease is still held. `unknown`: it did
 * not answer, or nothing was to be written.
 */
export type PublishResult = 'stored' | 'fenced' | 'older' | 'unknown';

/** How the load went: store times, and how long it took, ms. */
export interface Loaded {
  readonly start: number;
  readonly end: number;
  readonly took: number;
}

/** What a publication stands on. */
export interface Ground {
  readonly baseline: Baseline;
  /** The entry that the load replaces because it was unusable. */
  readonly rejectedId: string;
}

interface Writing {
  readonly lease: Lease;
  readonly draft: Draft;
  readonly made: Making;
  readonly hardMs: number;
  readonly rejectedId: string;
}

/** What an entry consists of besides its draft. */
interface Making {
  readonly id: string;
  readonly loaded: Loaded;
  readonly epoch: number;
  readonly tags: readonly EntryTag[];
}

/** Writes entries under a lease, or without one where the policy says so. */
export class Publisher {
  constructor(
    private readonly gate: StoreGate,
    private readonly baselines: Baselines,
    private readonly variants: Variants,
    private readonly events: EventBus,
    private readonly counters: Counters,
    private readonly copies: NearCache | undefined,
    private readonly packing: Packing,
  ) {}

  /**
   * Publishes under the lease. What the entry depends on is asked about at the same time: an entry that does not count any
   * more is one that nobody will be served, but who joined its load since must hear of it.
   */
  async publish(
    request: Request,
    lease: Lease,
    draft: Draft,
    { baseline, rejectedId }: Ground,
    loaded: Loaded,
  ): Promise<PublishResult> {
    const hardMs = remaining(draft, loaded.end);
    if (hardMs <= 0) return this.giveUp(request, lease, draft, baseline);
    try {
      const found = this.tagsOf(request, draft, baseline, loaded, hardMs);
      // Not awaited in vain: a call made after this load must not be sent before its publication.
      const tags = 'then' in found ? await found : found;
      if (tags === undefined) return await this.revoke(request, lease);
      const made = { id: lease.token, loaded, epoch: baseline.epoch, tags };
      const [written, looked] = await Promise.allSettled([
        this.write(request, { lease, draft, made, hardMs, rejectedId }),
        this.baselines.holds(request, baseline, hardMs),
      ]);
      // Either of them is enough to know.
      if (isAnswered(written, 'fenced') || isAnswered(looked, false)) return this.tell(request, 'fenced');
      if (isAnswered(written, 'older')) return this.skip(request, 'older');
      if (isAnswered(written, 'missing') || !isAnswered(looked, true)) return this.skip(request, 'unknown');
      return written.status === 'fulfilled' ? this.tell(request, 'stored') : this.skip(request, 'unknown');
    } catch {
      this.tell(request, 'skipped');
      return 'unknown';
    }
  }

  /** Writes without a lease (`coordinate: 'process' | 'none'`). A failure costs the entry only. */
  async writeUnfenced(
    request: Request,
    draft: Draft,
    id: string,
    baseline: Baseline,
    loaded: Loaded,
  ): Promise<void> {
    const { key } = request;
    const hardMs = remaining(draft, loaded.end);
    try {
      const tags = hardMs > 0 ? await this.tagsOf(request, draft, baseline, loaded, hardMs) : undefined;
      if (tags === undefined) {
        this.tell(request, 'skipped');
        return;
      }
      const bytes = this.bytes(key, draft, { id, loaded, epoch: baseline.epoch, tags });
      await this.gate.write('write', key, () => this.gate.store.write(key, bytes, hardMs));
      this.tell(request, 'stored');
    } catch {
      this.tell(request, 'skipped');
    }
  }

  /** The entry as it is to be stored. */
  bytes(key: EntryKey, draft: Draft, made: Making): Buffer {
    const { compression, bytes } = draft.atRest ?? { bytes: draft.payload.bytes };
    return Buffer.concat([this.head(key, draft, made, { compression, size: bytes.length }), bytes]);
  }

  /** The bytes before a payload that lies in the store like this. */
  private head(
    key: EntryKey,
    draft: Draft,
    { id, loaded, epoch, tags }: Making,
    { compression, size }: Pick<EntryHeader, 'compression' | 'size'>,
  ): Buffer {
    const { kind, payload, life, sourceVersion } = draft;
    const bornAt = bornOf(draft, loaded.end);
    return encodeHeader({
      kind,
      compression,
      codec: payload.codec,
      softAt: bornAt + life.ttl,
      loadStart: loaded.start,
      sourceVersion,
      id,
      size,
      cost: loaded.took,
      bornAt,
      ttl: life.ttl,
      hard: life.hard,
      epoch,
      digest: key.digest,
      tags,
      ...(payload.serializer !== undefined && { serializer: payload.serializer }),
    });
  }

  tell<R extends 'stored' | 'fenced' | 'skipped'>(request: Pick<Request, 'key' | 'name'>, result: R): R {
    this.counters.publishes[result] += 1;
    // The next read makes a copy of it.
    if (result === 'stored') this.copies?.drop(placeOf(request.key));
    if (this.events.active) {
      this.events.emit({
        type: 'publish',
        key: request.key.id,
        name: request.name,
        at: this.gate.store.now(),
        result,
      });
    }
    return result;
  }

  /** The tags the entry gets; undefined: a late one was invalidated within the load. Waits for nothing where it need not. */
  private tagsOf(
    { name, key }: Request,
    draft: Draft,
    baseline: Baseline,
    loaded: Loaded,
    hardMs: number,
  ): readonly EntryTag[] | Promise<readonly EntryTag[] | undefined> {
    const known = new Set(baseline.tags.map(({ id }) => id));
    const late = draft.tags.filter((id) => !known.has(id));
    if (late.length === 0 && this.variants.covers(name, key.variant, hardMs)) return baseline.tags;
    return Promise.all([
      late.length === 0 ? [] : this.baselines.addLate(late, loaded, hardMs),
      this.variants.cover(name, key.variant, hardMs),
    ]).then(([added]) => added && [...baseline.tags, ...added]);
  }

  private async write(
    { key, policy }: Request,
    { lease, draft, made, hardMs, rejectedId }: Writing,
  ): Promise<CommitReply> {
    const { gate } = this;
    const { token } = lease;
    const { kept } = draft;
    let entry = draft;
    if (kept) {
      const head = this.head(key, draft, made, kept.header);
      const touch = { token, entryId: kept.header.id, head, hardMs };
      const fits = head.length === kept.headLength;
      const touched = fits ? await gate.write('touch', key, () => gate.store.touch(key, touch)) : 'gone';
      if (touched !== 'gone') return touched;
      // Only its plain bytes are at hand.
      entry = (await packedDraft(draft, policy, this.packing, packWithin(lease))) ?? draft;
    }
    const commit = { token, bytes: this.bytes(key, entry, made), hardMs, rejectedId };
    return gate.write('commit', key, () => gate.store.commit(key, commit));
  }

  private skip<R extends PublishResult>(request: Request, result: R): R {
    this.tell(request, 'skipped');
    return result;
  }

  /** A tag or the whole was invalidated since the load began: as if the lease had been taken. */
  private async revoke(request: Request, { token }: Lease): Promise<'fenced'> {
    this.tell(request, 'fenced');
    await this.gate.release(request.key, { token, outcome: '' }).catch(() => false);
    return 'fenced';
  }

  /** Its life is over already (`asOf`). */
  private async giveUp(
    request: Request,
    { token }: Lease,
    draft: Draft,
    baseline: Baseline,
  ): Promise<PublishResult> {
    this.tell(request, 'skipped');
    const [released, looked] = await Promise.allSettled([
      this.gate.release(request.key, { token, outcome: '' }),
      draft.tags.length > 0 ? false : this.baselines.holds(request, baseline, 0),
    ]);
    return isAnswered(released, false) || isAnswered(looked, false) ? 'fenced' : 'unknown';
  }
}

function isAnswered<T>(result: PromiseSettledResult<T>, answer: T): boolean {
  return result.status === 'fulfilled' && result.value === answer;
}

function bornOf({ asOf }: Draft, end: number): number {
  return Math.min(asOf ?? end, end);
}

/** For how long a payload may be compressed, ms: a lease that was renewed in time then has a third of its length left. */
export function packWithin({ leaseMs }: Pick<Lease, 'leaseMs'>): number {
  return leaseMs / 3;
}

/** How long the store is to keep it, ms, from the load's end. */
function remaining(draft: Draft, end: number): number {
  return draft.life.hard - (end - bornOf(draft, end));
}
