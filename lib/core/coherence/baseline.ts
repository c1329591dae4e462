import type { EntryTag } from '../entry/index.js';
import { StoreFailure } from '../gate/store-failure.js';
import type { Budget, StoreGate } from '../gate/store-gate.js';
import type { Request } from '../request.js';
import { INVALIDATED_TAG_LIFE, type TagState } from '../store.js';
import { tagIds } from '../tags.js';
import type { Epochs } from './epochs.js';
import type { TagBook } from './tag-book.js';

/** Tags outlive what depends on them by so much, ms. */
export const TAG_MARGIN = 1_000;

/** What an entry will depend on, as it was before its load began. */
export interface Baseline {
  readonly epoch: number;
  readonly tags: readonly EntryTag[];
  /** A tag could not be read, or holds stores off: nothing may be stored. */
  readonly isBarred: boolean;
}

/** Takes baselines, and says at the end of a load whether they still hold. */
export class Baselines {
  constructor(
    private readonly gate: StoreGate,
    private readonly epochs: Epochs,
    private readonly tags: TagBook,
  ) {}

  /** Asks for what every load must know; sent along with the question for the lease. Never rejects. */
  prepare(): Promise<void> {
    return this.epochs.ask();
  }

  /** After `prepare`, and before the load begins. Never rejects. */
  async take({ name }: Pick<Request, 'name'>, ids: readonly string[], lifeMs: number): Promise<Baseline> {
    // Its callers wait for the load: no longer for this than for any other question.
    const tags = ids.length === 0 ? [] : await this.hold(ids, lifeMs, this.gate.budget());
    const now = this.gate.store.now();
    return {
      epoch: this.epochs.least(name),
      tags: tokensOf(ids, tags ?? []),
      isBarred: tags === undefined || tags.some(({ heldUntil }) => heldUntil > now),
    };
  }

  /** Keeps the tags of a load that goes on. Never rejects. */
  async keep({ tags }: Baseline, lifeMs: number): Promise<void> {
    const ids = tags.map(({ id }) => id);
    await this.hold(ids, lifeMs);
  }

  /** Whether all that is in the baseline still holds; its tags are kept for `lifeMs` from now. @throws StoreFailure */
  async holds({ name }: Pick<Request, 'name'>, { epoch, tags }: Baseline, lifeMs: number): Promise<boolean> {
    const ids = tags.map(({ id }) => id);
    const [states] = await Promise.all([
      ids.length === 0 ? [] : this.tags.hold(ids, lifeMs + TAG_MARGIN),
      this.epochs.isCertain ? undefined : this.epochs.ask(),
    ]);
    return this.epochs.least(name) <= epoch && tags.every((tag, index) => states[index]?.hard === tag.hard);
  }

  /**
   * The tokens of tags that were not known before the load; undefined: one was invalidated within it.
   * @throws StoreFailure
   */
  async addLate(
    ids: readonly string[],
    load: { readonly start: number; readonly took: number },
    lifeMs: number,
  ): Promise<readonly EntryTag[] | undefined> {
    // The clocks of two masters differ: an invalidation just before the load may have been within it.
    const since = load.start - this.gate.store.clockSkew;
    if (load.took > INVALIDATED_TAG_LIFE - this.gate.store.clockSkew) return undefined;
    const states = await this.tags.hold(ids, lifeMs + TAG_MARGIN);
    if (states.some((state) => concernsLoad(state, since))) return undefined;
    // Expired within the load: an older token makes the entry stale as of then.
    const before = (state: TagState): TagState =>
      state.softAt > 0 && state.softAt >= since ? { ...state, soft: '' } : state;
    return tokensOf(ids, states.map(before));
  }

  private async hold(
    ids: readonly string[],
    lifeMs: number,
    budget?: Budget,
  ): Promise<readonly TagState[] | undefined> {
    try {
      return await this.tags.hold(ids, lifeMs, budget);
    } catch (error) {
      if (error instanceof StoreFailure) return undefined;
      throw error;
    }
  }
}

function concernsLoad({ invalidatedAt, heldUntil }: TagState, since: number): boolean {
  return (invalidatedAt > 0 && invalidatedAt >= since) || heldUntil > since;
}

/** What an entry carries of the tags that stand like this. */
export function tokensOf(ids: readonly string[], states: readonly TagState[]): readonly EntryTag[] {
  return states.map(({ hard, soft }, index) => ({ id: ids[index] ?? '', hard, soft }));
}

/** The ids of the tags known before the load. @throws ConfigurationError, or what the policy's function throws */
export function earlyTags({ policy, args }: Request): readonly string[] {
  const { tags } = policy;
  if (tags === undefined) return [];
  return typeof tags === 'function' ? tagIds(tags(...args), `${policy.where}: tags()`) : tags;
}
