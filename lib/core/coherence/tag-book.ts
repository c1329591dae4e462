import type { EntryTag } from '../entry/index.js';
import type { Budget, StoreGate } from '../gate/store-gate.js';
import type { Clock } from '../ports.js';
import type { Signal, TagState } from '../store.js';

/** Tags known at most; the oldest are forgotten first, which costs one more question. */
const CAPACITY = 50_000;

/** A read of tags under way, and which of them changed meanwhile. */
interface Reading {
  readonly changed: Set<string>;
  isSpoiled: boolean;
}

/**
 * Tags as this process knows them: read once, kept true by what the store announces. That counts only while the store has
 * proven, less than `maxLag` ago, that no announcement is missing.
 */
export class TagBook {
  private readonly states = new Map<string, TagState>();
  private readonly readings = new Set<Reading>();
  /** The reads under way of each tag. */
  private readonly asked = new Map<string, Set<Reading>>();

  constructor(
    private readonly gate: StoreGate,
    private readonly clock: Clock,
    private readonly maxLag: number,
  ) {}

  /** Whether all of these are known for certain to stand. */
  confirms(tags: readonly EntryTag[]): boolean {
    if (this.clock.now() - this.gate.store.toldUntil() >= this.maxLag) return false;
    return tags.every(({ id, hard, soft }) => {
      const state = this.states.get(id);
      return state !== undefined && state.hard === hard && state.soft === soft;
    });
  }

  /** Asks the store. @throws StoreFailure */
  async read(ids: readonly string[], budget: Budget): Promise<readonly (TagState | undefined)[]> {
    return this.noting(ids, () => this.gate.spend(budget, 'read tags', ids, () => this.gate.store.tags(ids)));
  }

  /**
   * The tags as they stand, each created where it is absent, and kept for at least `lifeMs`; within the budget, or as a write.
   * @throws StoreFailure
   */
  async hold(ids: readonly string[], lifeMs: number, budget?: Budget): Promise<readonly TagState[]> {
    const { gate } = this;
    const hold = (): Promise<readonly TagState[]> => gate.store.holdTags(ids, lifeMs);
    return this.noting(ids, () =>
      budget ? gate.spend(budget, 'hold tags', ids, hold) : gate.write('hold tags', ids, hold),
    );
  }

  heed(signal: Signal): void {
    if (signal.kind === 'tag') this.learn(signal.id, signal.state);
    if (signal.kind !== 'gap') return;
    this.states.clear();
    for (const reading of this.readings) reading.isSpoiled = true;
  }

  /** This process changed the tag. What others did since may have been announced already: it is asked for when needed. */
  forget(id: string): void {
    this.spoil(id);
    this.states.delete(id);
  }

  /** A tag changed. Replies under way may be older. */
  private learn(id: string, state: TagState): void {
    this.spoil(id);
    if (this.states.has(id)) this.states.set(id, state);
  }

  private async noting<T extends readonly (TagState | undefined)[]>(
    ids: readonly string[],
    ask: () => Promise<T>,
  ): Promise<T> {
    const reading: Reading = { changed: new Set(), isSpoiled: false };
    this.readings.add(reading);
    for (const id of ids) this.asked.set(id, (this.asked.get(id) ?? new Set()).add(reading));
    try {
      const states = await ask();
      states.forEach((state, index) => this.note(reading, ids[index], state));
      return states;
    } finally {
      this.readings.delete(reading);
      for (const id of ids) this.answered(id, reading);
    }
  }

  private spoil(id: string): void {
    for (const reading of this.asked.get(id) ?? []) reading.changed.add(id);
  }

  private answered(id: string, reading: Reading): void {
    const asked = this.asked.get(id);
    asked?.delete(reading);
    if (asked?.size === 0) this.asked.delete(id);
  }

  private note(reading: Reading, id: string | undefined, state: TagState | undefined): void {
    if (id === undefined || reading.isSpoiled || reading.changed.has(id)) return;
    this.states.delete(id);
    if (state === undefined) return;
    this.states.set(id, state);
    if (this.states.size <= CAPACITY) return;
    const [oldest] = this.states.keys();
    if (oldest !== undefined) this.states.delete(oldest);
  }
}
