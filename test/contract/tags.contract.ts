import type { TagState } from '../../lib/core/store.js';
import { freshToken, LONG, type Subject } from './subject.js';

/** A tag that no other test knows. */
const freshTag = (): string => `tag:${freshToken()}`;

async function tag(s: Subject, id: string): Promise<TagState | undefined> {
  const [state] = await s.second.tags([id]);
  return state;
}

async function held(s: Subject, id: string, lifeMs = LONG): Promise<TagState> {
  const [state] = await s.store.holdTags([id], lifeMs);
  if (state === undefined) throw new Error('holdTags answered nothing');
  return state;
}

const PART = /^[\w-]{1,24}$/;

export function tagsContract(subject: () => Subject): void {
  describe('tags', () => {
    it('are absent at first, and looking at them makes none', async () => {
      const s = subject();
      const [one, two] = [freshTag(), freshTag()];
      expect(await s.store.tags([one, two])).toEqual([undefined, undefined]);
      expect(await s.second.tags([one, two])).toEqual([undefined, undefined]);
      expect(await s.store.tags([])).toEqual([]);
    });

    it('are created by a load that depends on them, and stay as they are for the next', async () => {
      const s = subject();
      const id = freshTag();
      const created = await held(s, id);

      expect(created).toEqual({
        hard: expect.stringMatching(PART) as string,
        soft: '',
        softAt: 0,
        invalidatedAt: 0,
        heldUntil: 0,
      });
      expect(await s.second.holdTags([id], LONG)).toEqual([created]);
      expect(await tag(s, id)).toEqual(created);
    });

    it('are answered in the order they were asked for, each once', async () => {
      const s = subject();
      const ids = Array.from({ length: 20 }, freshTag);
      const there = ids.filter((_, at) => at % 3 === 0);
      const made = await s.store.holdTags(there, LONG);
      expect(new Set(made.map(({ hard }) => hard)).size).toBe(there.length);

      const found = await s.second.tags(ids);
      expect(found.map((state) => state?.hard)).toEqual(ids.map((id) => made[there.indexOf(id)]?.hard));
    });

    it('are gone when their time is over, and never come back as the same', async () => {
      const s = subject();
      const id = freshTag();
      const { hard } = await held(s, id, 60);
      await s.eventually('the tag is gone', async () => (await tag(s, id)) === undefined);

      expect((await held(s, id)).hard).not.toBe(hard);
    });

    it('are kept for the longest time asked for', async () => {
      const s = subject();
      const id = freshTag();
      await held(s, id, LONG);
      const { hard } = await held(s, id, 30);
      await s.advance(60);
      expect((await tag(s, id))?.hard).toBe(hard);

      const other = freshTag();
      const first = await held(s, other, 40);
      await held(s, other, LONG);
      await s.advance(80);
      expect((await tag(s, other))?.hard).toBe(first.hard);
    });
  });

  describe('the invalidation of a tag', () => {
    it('gives it another hard part, with the time of it, for every client', async () => {
      const s = subject();
      const id = freshTag();
      const before = await held(s, id);
      const { now: from } = await s.store.peek(s.key);
      const state = await s.store.invalidateTag(id, 0);
      const { now: to } = await s.store.peek(s.key);

      expect(state.hard).toMatch(PART);
      expect(state.hard).not.toBe(before.hard);
      expect(state.invalidatedAt).toBeGreaterThanOrEqual(from);
      // One after another may be told apart by a millisecond that is still to come.
      expect(state.invalidatedAt).toBeLessThanOrEqual(to + 1);
      expect(state).toMatchObject({ soft: '', softAt: 0, heldUntil: 0 });
      expect(await tag(s, id)).toEqual(state);
      expect(await s.second.holdTags([id], LONG)).toEqual([state]);
    });

    it('makes the tag known where it was not', async () => {
      const s = subject();
      const id = freshTag();
      const state = await s.store.invalidateTag(id, 0);
      expect(await held(s, id, 30)).toEqual(state);

      // It was held for 30 ms only, but is kept for loads that learn of it at their end.
      await s.advance(60);
      expect(await tag(s, id)).toEqual(state);
    });

    it('never makes a part that was there before', async () => {
      const s = subject();
      const id = freshTag();
      const seen = new Set([(await held(s, id)).hard]);
      const states = await Promise.all(
        Array.from({ length: 50 }, (_, at) => (at % 2 ? s.store : s.second).invalidateTag(id, 0)),
      );
      for (const { hard } of states) seen.add(hard);
      expect(seen.size).toBe(51);
    });

    it('holds loads off, and no later one shortens that', async () => {
      const s = subject();
      const id = freshTag();
      const { now } = await s.store.peek(s.key);
      const { heldUntil } = await s.store.invalidateTag(id, LONG);
      expect(heldUntil).toBeGreaterThanOrEqual(now + LONG);
      expect(heldUntil).toBeLessThan(now + 2 * LONG);

      for (const holdOff of [0, 50]) {
        expect((await s.second.invalidateTag(id, holdOff)).heldUntil).toBe(heldUntil);
      }
      await s.store.expireTag(id);
      expect((await held(s, id)).heldUntil).toBe(heldUntil);
      expect((await s.second.invalidateTag(id, 2 * LONG)).heldUntil).toBeGreaterThan(heldUntil);
    });
  });

  describe('the soft expiry of a tag', () => {
    it('gives it another soft part, with the time of it, and leaves the hard one', async () => {
      const s = subject();
      const id = freshTag();
      const { hard } = await held(s, id);
      const { now: from } = await s.store.peek(s.key);
      await s.store.expireTag(id);
      const { now: to } = await s.store.peek(s.key);

      const first = await tag(s, id);
      expect(first).toMatchObject({ hard, invalidatedAt: 0, heldUntil: 0 });
      expect(first?.soft).toMatch(PART);
      expect(first?.softAt).toBeGreaterThanOrEqual(from);
      expect(first?.softAt).toBeLessThanOrEqual(to);

      await s.second.expireTag(id);
      const second = await tag(s, id);
      expect(second?.hard).toBe(hard);
      expect(second?.soft).not.toBe(first?.soft);
      expect(second?.softAt).toBeGreaterThanOrEqual(first?.softAt ?? Infinity);
    });

    it('survives an invalidation', async () => {
      const s = subject();
      const id = freshTag();
      await held(s, id);
      await s.store.expireTag(id);
      const before = await tag(s, id);
      await s.store.invalidateTag(id, 0);

      expect(await tag(s, id)).toMatchObject({ soft: before?.soft, softAt: before?.softAt });
    });

    it('makes no tag where none is: there is no entry to expire', async () => {
      const s = subject();
      const id = freshTag();
      await s.store.expireTag(id);
      expect(await tag(s, id)).toBeUndefined();
    });

    it('does not keep the tag for longer', async () => {
      const s = subject();
      const id = freshTag();
      await held(s, id, 60);
      await s.store.expireTag(id);
      await s.eventually('the tag is gone', async () => (await tag(s, id)) === undefined);
    });
  });
}
