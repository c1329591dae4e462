import type { Random } from '../core/ports.js';
import { INVALIDATED_TAG_LIFE, type TagState } from '../core/store.js';
import type { Expiring } from './sweeper.js';

interface KeptTag {
  readonly state: TagState;
  readonly expiresAt: number;
}

/**
 * The tags: expiring, and bounded in number, the one held or changed longest ago first out. Entries under a tag that was
 * dropped are unusable, as with one that expired.
 */
export class TagTable implements Expiring {
  /** In order of use: the first is the least recently used one. */
  readonly #tags = new Map<string, KeptTag>();

  constructor(
    private readonly random: Random,
    private readonly maxTags: number,
  ) {}

  get size(): number {
    return this.#tags.size;
  }

  get(id: string, now: number): TagState | undefined {
    return this.#kept(id, now)?.state;
  }

  hold(id: string, lifeMs: number, now: number): TagState {
    const kept = this.#kept(id, now);
    const state = kept?.state ?? { ...NEW, hard: this.#part(now) };
    this.#set(id, { state, expiresAt: Math.max(kept?.expiresAt ?? 0, now + lifeMs) });
    return state;
  }

  invalidate(id: string, holdOffMs: number, now: number): TagState {
    const kept = this.#kept(id, now);
    const before = kept?.state ?? NEW;
    const heldUntil = Math.max(before.heldUntil, holdOffMs > 0 ? now + holdOffMs : 0);
    const state = { ...before, hard: this.#part(now), invalidatedAt: now, heldUntil };
    const expiresAt = Math.max(kept?.expiresAt ?? 0, now + INVALIDATED_TAG_LIFE, heldUntil);
    this.#set(id, { state, expiresAt });
    return state;
  }

  /** Undefined: there is no such tag, so no entry to make stale either. */
  soften(id: string, now: number): TagState | undefined {
    const kept = this.#kept(id, now);
    if (kept === undefined) return undefined;
    const state = { ...kept.state, soft: this.#part(now), softAt: now };
    this.#set(id, { ...kept, state });
    return state;
  }

  clear(): void {
    this.#tags.clear();
  }

  keys(): IterableIterator<string> {
    return this.#tags.keys();
  }

  expire(id: string, now: number): void {
    this.#kept(id, now);
  }

  #kept(id: string, now: number): KeptTag | undefined {
    const tag = this.#tags.get(id);
    if (tag === undefined || now < tag.expiresAt) return tag;
    this.#tags.delete(id);
    return undefined;
  }

  #set(id: string, tag: KeptTag): void {
    this.#tags.delete(id);
    this.#tags.set(id, tag);
    for (const oldest of this.#tags.keys()) {
      if (this.#tags.size <= this.maxTags) return;
      this.#tags.delete(oldest);
    }
  }

  /** Never the same twice: the time for the reader, the rest for chance. */
  #part(now: number): string {
    return now.toString(36) + this.random.token().slice(-11);
  }
}

const NEW: TagState = { hard: '', soft: '', softAt: 0, invalidatedAt: 0, heldUntil: 0 };
