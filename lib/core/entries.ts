import { judge, readEntry, turnToRead, type Answer } from './call/index.js';
import { freshness, type StoredEntry } from './entry/index.js';
import { CacheUnavailableError } from './errors.js';
import type { Engine } from './flight/index.js';
import type { Request } from './request.js';
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

/** Looks at entries without a load. */
export class Entries {
  constructor(private readonly engine: Engine) {}

  /** What is stored and may still be served, or undefined. A store that can't be reached holds nothing. */
  async read(request: Request): Promise<Answer | undefined> {
    const { engine } = this;
    const entry = engine.reads.near(request) ?? (await this.readStored(request));
    if (!entry) return undefined;
    const state = judge(engine, entry, request);
    if (state !== 'fresh' && state !== 'stale') return undefined;
    const turn = turnToRead(engine, entry.payload, request);
    if (turn) await turn;
    const reading = readEntry(engine, entry, request, state);
    return reading && 'answer' in reading ? reading.answer : undefined;
  }

  private async readStored(request: Request): Promise<StoredEntry | undefined> {
    const { reads, gate } = this.engine;
    const answer = await reads.read(request, gate.budget()).catch(() => undefined);
    return answer?.entry;
  }

  async inspect(request: Pick<Request, 'key' | 'name' | 'policy' | 'version'>): Promise<EntryInfo | null> {
    const { key, version } = request;
    const { facts, entry } = await this.look(request);
    const lease = facts.lease && { lease: facts.lease };
    const base = {
      key: key.id,
      tags: entry?.header.tags.map(({ id }) => readable(id)) ?? [],
      version,
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
      age: Math.max(0, facts.now - header.bornAt),
      freshFor: Math.max(0, header.softAt - facts.now),
      negative: header.kind !== 'value',
    };
  }

  private async look(
    request: Pick<Request, 'key' | 'name' | 'policy'>,
  ): Promise<{ facts: StoredFacts; entry: StoredEntry | undefined }> {
    const { gate, reads } = this.engine;
    try {
      const facts = await gate.write('inspect', request.key, () => gate.store.peek(request.key));
      return { facts, entry: (await reads.vet(facts.bytes, request, gate.budget())).entry };
    } catch (error) {
      const message = `${request.policy.where}: inspect got no answer from the store.`;
      throw new CacheUnavailableError(message, 1_000, {
        cause: error,
      });
    }
  }
}

/** A tag's id as the user wrote the tag, unless it was hashed. */
function readable(id: string): string {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
