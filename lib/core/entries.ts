import { judge, readEntry, type Answer } from './call/index.js';
import {
  drawLife,
  EncodedPayload,
  encodePayload,
  freshness,
  parseEntry,
  type EntryKind,
  type Life,
} from './entry/index.js';
import { CacheUnavailableError, InvalidationError, UncacheableValueError } from './errors.js';
import { detach, tell, type Engine, type Refresher } from './flight/index.js';
import type { EntryKey } from './keys/index.js';
import { asUserSays, uncacheable } from './publish/index.js';
import type { Request } from './request.js';
import { show } from './show.js';
import type { StoredFacts } from './store.js';

/** What is known of one entry. Durations are ms. */
export interface EntryInfo {
  readonly key: string;
  readonly state: 'fresh' | 'stale' | 'expired' | 'loading';
  /** Since the end of its load. */
  readonly age: number;
  /** Until it stops being fresh; 0 when it has. */
  readonly freshFor: number;
  /** Until the store drops it. */
  readonly storedFor: number;
  readonly negative: boolean;
  /** Size in the store. */
  readonly bytes: number;
  readonly tags: readonly string[];
  readonly version: string | undefined;
  readonly lease?: { readonly holder: string; readonly since: number; readonly expiresIn: number };
}

/** Reads and writes of entries without a load. */
export class Entries {
  constructor(
    private readonly engine: Engine,
    private readonly refresher: Refresher,
  ) {}

  /** What is stored and may still be served, or undefined. A store that can't be reached holds nothing. */
  async read(request: Request): Promise<Answer | undefined> {
    const { engine } = this;
    const answer = await engine.reads.read(request.key, engine.gate.budget()).catch(() => undefined);
    if (!answer?.entry) return undefined;
    const state = judge(engine, answer.entry, request);
    if (state !== 'fresh' && state !== 'stale') return undefined;
    const reading = readEntry(engine, answer.entry, request, state);
    return reading && 'answer' in reading ? reading.answer : undefined;
  }

  /**
   * Replaces the entry and revokes loads under way. A value that can't be stored drops the old entry first.
   * @throws UncacheableValueError
   * @throws InvalidationError without the store's acknowledgement: the old value may still be there
   */
  async set(request: Request, value: unknown): Promise<void> {
    const draft = await this.draft(request, value);
    if (draft === undefined) return this.invalidate([request]);
    const { engine } = this;
    const { gate } = engine;
    const token = engine.runtime.random.token();
    const now = gate.store.now();
    const head = engine.publisher.head(request.key, { ...draft, kept: undefined }, token, now, 0, now);
    const bytes = Buffer.concat([head, draft.payload.bytes]);
    const put = { token, bytes, hardMs: draft.life.hard, notAfter: now + gate.writeBudget };
    await this.change([request], 'set', async () => {
      const reply = await gate.write('set', () => gate.store.put(request.key, put));
      if (reply === 'late') throw new Error('the store took it up too late and left it');
    });
    engine.publisher.tell(request, 'stored');
  }

  /** Drops entries and revokes loads under way. @throws InvalidationError for those the store did not acknowledge */
  async invalidate(requests: readonly Pick<Request, 'key' | 'name'>[]): Promise<void> {
    const { gate, counters } = this.engine;
    await this.change(requests, 'invalidate', (key) =>
      gate.write('invalidate', () => gate.store.invalidate(key)),
    );
    for (const request of requests) {
      counters.invalidations += 1;
      tell(this.engine, request, 'invalidate', {});
    }
  }

  async inspect({ key, policy }: Pick<Request, 'key' | 'policy'>): Promise<EntryInfo | null> {
    const facts = await this.facts(key, policy.where);
    const entry = parseEntry(facts.bytes, key);
    const lease = facts.lease && { lease: facts.lease };
    const base = {
      key: key.id,
      tags: [],
      version: undefined,
      bytes: facts.bytes?.length ?? 0,
      storedFor: facts.ttlMs,
      ...lease,
    };
    if (!entry)
      return facts.lease ? { ...base, state: 'loading', age: 0, freshFor: 0, negative: false } : null;
    const { header } = entry;
    // By the windows it was written with: what is still stored may still be served to somebody.
    const window = header.hard - header.ttl;
    const state = freshness(header, facts.now, { stale: window, staleIfError: window });
    return {
      ...base,
      state: state === 'failsafe' ? 'stale' : state,
      age: Math.max(0, facts.now - header.softAt + header.ttl),
      freshFor: Math.max(0, header.softAt - facts.now),
      negative: header.kind !== 'value',
    };
  }

  private async facts(key: EntryKey, where: string): Promise<StoredFacts> {
    const { gate } = this.engine;
    try {
      return await gate.write('inspect', () => gate.store.peek(key));
    } catch (error) {
      throw new CacheUnavailableError(`${where}: inspect got no answer (${show(error)}).`, 1_000, {
        cause: error,
      });
    }
  }

  /**
   * Changes entries in the store. What runs here for their keys is detached before, so that nobody joins what the change
   * revokes, and again after: a flight may have begun before the store knew.
   */
  private async change(
    requests: readonly Pick<Request, 'key'>[],
    what: string,
    apply: (key: EntryKey) => Promise<void>,
  ): Promise<void> {
    const detachAll = (): void => {
      for (const request of requests) {
        detach(this.engine, request.key);
        this.refresher.forget(request);
      }
    };
    detachAll();
    const results = await Promise.allSettled(requests.map(async ({ key }) => apply(key)));
    detachAll();
    const failed = requests
      .filter((_, index) => results[index]?.status === 'rejected')
      .map(({ key }) => key.id);
    if (failed.length === 0) return;
    const cause: unknown = results.find((result) => result.status === 'rejected')?.reason;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidationError(
      `${what} was not acknowledged for ${failed.join(', ')}: ${why.replace(/\.$/, '')}. An old value may still be served; try again.`,
      failed,
      { cause },
    );
  }

  /** The value as it would be stored; undefined: the policy stores none such. Drops the old entry before it rejects. */
  private async draft(
    request: Request,
    value: unknown,
  ): Promise<{ kind: EntryKind; payload: EncodedPayload; life: Life } | undefined> {
    const { policy } = request;
    const { planning } = this.engine;
    let payload: EncodedPayload;
    try {
      payload = encodePayload(value, policy);
      if (payload.bytes.length > planning.maxValueBytes) {
        const size = `${payload.bytes.length} bytes are over maxValueBytes (${planning.maxValueBytes})`;
        throw new UncacheableValueError(`${policy.where}: ${size}. Store less, or raise the limit.`, '');
      }
    } catch (error) {
      await this.invalidate([request]);
      throw uncacheable(error, policy.where);
    }
    const { kind, ttl } = asUserSays(value, false, undefined, request, planning);
    const life = drawLife(kind, ttl, policy, planning.random.next());
    return life && { kind, payload, life };
  }
}
