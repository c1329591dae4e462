import { AsyncLocalStorage } from 'node:async_hooks';
import { Origin } from '../support/origin.js';
import { times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

interface User {
  readonly id: number;
}
const als = new AsyncLocalStorage<User>();
const me = (): number | undefined => als.getStore()?.id;
const CALLERS = 200;
const everyone = Array.from({ length: CALLERS }, (_, id) => id);

/** 200 callers at once, each in a context of its own; whom each is taken for once its call is over. */
const callers = (call: (id: number) => Promise<unknown>) =>
  times(CALLERS, (id) =>
    als.run({ id }, async () => {
      const outcome = await call(id).then(
        () => me(),
        () => me(),
      );
      await Promise.resolve();
      return [outcome, me()];
    }),
  );
const own = everyone.map((id) => [id, id]);

describe('200 callers of one load, each in an async context of its own', () => {
  it('over two processes: each goes on in its own, the load runs in that of one of them', async () => {
    const apps = await times(2, () => here.app());
    const origin = new Origin();
    const seen: (number | undefined)[] = [];
    const load = async () => {
      seen.push(me());
      const value = await origin.load();
      seen.push(me());
      return value;
    };
    const calls = callers((id) => apps[id % 2]!.cache.getOrLoad('k', load));
    await origin.started(1);
    await origin.give('v');
    expect(await calls).toEqual(own);
    expect(seen).toHaveLength(2);
    expect(seen[0]).toBe(seen[1]);
    expect(everyone).toContain(seen[0]);
  });

  it('that fails: each catches it in its own, and its fallback runs there', async () => {
    const apps = await times(2, () => here.app());
    const origin = new Origin();
    const fallbacks: (number | undefined)[] = [];
    const answers = new Map<number, unknown>();
    const calls = callers(async (id) => {
      const fallback = () => (fallbacks.push(me()), me());
      const policy = id % 4 < 2 ? {} : { fallback };
      answers.set(id, await apps[id % 2]!.cache.getOrLoad('k', origin.load, policy));
    });
    await origin.started(1);
    await origin.fail(new Error('failed'));
    expect(await calls).toEqual(own);
    const degraded = everyone.filter((id) => id % 4 >= 2);
    expect(fallbacks.sort((a, b) => Number(a) - Number(b))).toEqual(degraded);
    expect([...answers]).toEqual(expect.arrayContaining(degraded.map((id) => [id, id])));
    expect(answers.size).toBe(degraded.length);
  });

  it('half of whom are gone before its end: the others learn nothing of them', async () => {
    const { cache } = await here.app();
    const origin = new Origin();
    const controllers = everyone.map(() => new AbortController());
    const reasons = new Map<number, unknown>();
    const calls = callers(async (id) => {
      try {
        await cache.getOrLoad('k', origin.load, {}, { signal: controllers[id]!.signal });
      } catch (error) {
        reasons.set(id, error);
      }
    });
    await origin.started(1);
    // Aborted from the context of a stranger.
    als.run({ id: -1 }, () => {
      for (const id of everyone) if (id % 2) controllers[id]!.abort(`reason of ${id}`);
    });
    await origin.give('v');
    expect(await calls).toEqual(own);
    expect([...reasons].sort(([a], [b]) => a - b)).toEqual(
      everyone.filter((id) => id % 2).map((id) => [id, `reason of ${id}`]),
    );
  });

  it('whose policy has hooks: they run where the load runs', async () => {
    const app = await here.app();
    const seen = new Set<number | undefined>();
    const look = <T>(value: T): T => (seen.add(me()), value);
    const policy = {
      ttl: () => look(60_000),
      cacheIf: () => look(true),
      isNegative: () => look(false),
      valueTags: () => look(['t']),
    };
    const calls = callers(() => app.cache.getOrLoad('k', async () => look('v'), policy));
    expect(await calls).toEqual(own);
    expect(seen.size).toBe(1);
    expect(everyone).toContain([...seen][0]);
  });
});
