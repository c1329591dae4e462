import { earlyTags, EVERYTHING } from '../coherence/index.js';
import type { About, Change } from '../deferral/index.js';
import { InvalidationError, UncacheableValueError } from '../errors.js';
import type { Engine, Refresher } from '../flight/index.js';
import { NO_KEY, type EntryKey } from '../keys/index.js';
import type { Draft } from '../publish/index.js';
import type { Request } from '../request.js';
import { eachTagId } from '../tags.js';
import { draftOf, putDraft } from './put-draft.js';
import { Performer } from './performer.js';
import type { Unsettled } from './unsettled.js';

/** Explicit changes of what is stored. Each rejects with InvalidationError what the store did not acknowledge. */
export class Changes {
  private readonly performer: Performer;

  constructor(
    private readonly engine: Engine,
    refresher: Refresher,
  ) {
    this.performer = new Performer(engine, refresher);
  }

  /** What the store did not acknowledge yet. */
  get unsettled(): Unsettled {
    return this.performer.unsettled;
  }

  /** Whether changes made now wait for the end of a run. */
  get isDeferring(): boolean {
    return this.engine.deferrals.isDeferring;
  }

  /** Makes the changes of `run` when it resolves, and none when it rejects. */
  defer<R>(run: () => Promise<R>): Promise<R> {
    return this.engine.deferrals.run(run, async (changes, result) => {
      try {
        await this.performer.make(changes);
      } catch (error) {
        throw error instanceof InvalidationError ? error.after(result) : error;
      }
    });
  }

  /** Drops entries and revokes loads under way; nothing is stored for `holdOffMs`. */
  async invalidate(requests: readonly About[], holdOffMs = 0): Promise<void> {
    await this.performer.perform(requests.map((request) => this.invalidation(request, holdOffMs)));
  }

  /** Makes entries stale and revokes loads under way. */
  async expire(requests: readonly About[]): Promise<void> {
    const { gate } = this.engine;
    await this.performer.perform(
      requests.map((about) => ({
        what: 'expire',
        subject: { kind: 'key', id: about.key.id },
        about,
        holdOffMs: 0,
        apply: () =>
          this.everyVariant(about, (key) => gate.change('expire', key, () => gate.store.expire(key))),
      })),
    );
  }

  /**
   * Replaces the entry and revokes loads under way. A value that can't be stored drops the old entry first.
   * @throws UncacheableValueError
   */
  async set(request: Request, value: unknown): Promise<void> {
    const dropped = this.invalidation(request, 0);
    let draft: Draft | undefined;
    try {
      // At once: the value may change before its turn comes, and so may the order of changes.
      draft = draftOf(this.engine, request, value);
    } catch (error) {
      if (error instanceof UncacheableValueError) await this.performer.perform([dropped]);
      throw error;
    }
    if (draft === undefined) return this.performer.perform([dropped]);
    const tags = earlyTags(request);
    await this.performer.perform([
      {
        what: 'set',
        subject: dropped.subject,
        about: request,
        holdOffMs: 0,
        inItsPlace: dropped,
        apply: async () => {
          const others = this.engine.variants.othersOf(request.key, request.name);
          const dropped = others.then((keys) => Promise.all(keys.map((key) => this.drop(key, 0))));
          await Promise.all([putDraft(this.engine, request, draft, tags), dropped]);
        },
      },
    ]);
  }

  /** Makes every entry with one of the tags unreadable. */
  async invalidateTags(tags: readonly string[], holdOffMs = 0): Promise<void> {
    const { gate, tags: book } = this.engine;
    await this.performOnTags(tags, 'invalidateTags', holdOffMs, async (id) => {
      await gate
        .change('invalidate a tag', [id], () => gate.store.invalidateTag(id, holdOffMs))
        .finally(() => book.forget(id));
    });
  }

  /** Makes every entry with one of the tags stale. */
  async expireTags(tags: readonly string[]): Promise<void> {
    const { gate, tags: book } = this.engine;
    await this.performOnTags(tags, 'expireTags', 0, async (id) => {
      await gate.change('expire a tag', [id], () => gate.store.expireTag(id)).finally(() => book.forget(id));
    });
  }

  /** Makes all entries of a name unreadable; without one, everything in this cache. */
  async clear(name = EVERYTHING): Promise<void> {
    const { gate, epochs } = this.engine;
    const apply = async (): Promise<void> => {
      epochs.learn(name, await gate.change('clear', 'epochs', () => gate.store.clear(name)));
    };
    await this.performer.perform([
      { what: 'clear', subject: { kind: 'scope', name }, about: { key: NO_KEY, name }, holdOffMs: 0, apply },
    ]);
  }

  private invalidation(about: About, holdOffMs: number): Change {
    return {
      what: 'invalidate',
      subject: { kind: 'key', id: about.key.id },
      about,
      holdOffMs,
      apply: () => this.everyVariant(about, (key) => this.drop(key, holdOffMs)),
    };
  }

  private drop(key: EntryKey, holdOffMs: number): Promise<void> {
    const { gate } = this.engine;
    return gate.change('invalidate', key, () => gate.store.invalidate(key, holdOffMs));
  }

  /** Builds that keep another version of the entry side by side are reached too. */
  private async everyVariant({ key, name }: About, apply: (key: EntryKey) => Promise<void>): Promise<void> {
    const others = this.engine.variants.othersOf(key, name);
    await Promise.all([apply(key), others.then((keys) => Promise.all(keys.map(apply)))]);
  }

  private async performOnTags(
    tags: readonly string[],
    what: 'invalidateTags' | 'expireTags',
    holdOffMs: number,
    apply: (id: string) => Promise<void>,
  ): Promise<void> {
    const ids = [...new Set(eachTagId(tags, `${what}()`))];
    await this.performer.perform(
      ids.map((id) => ({
        what,
        subject: { kind: 'tag', id },
        about: { key: { ...NO_KEY, id }, name: '' },
        holdOffMs,
        apply: () => apply(id),
      })),
    );
  }
}
