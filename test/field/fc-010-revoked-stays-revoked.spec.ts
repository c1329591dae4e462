import { setTimeout as delay } from 'node:timers/promises';
import { deferred } from '../support/deferred.js';
import { until } from '../support/until.js';
import { times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

/** 1,000 in the field. */
const ROUNDS = 400;
const AT_ONCE = 100;
const now = (): number => performance.now();

describe('FC-010: a load that read before a revocation and ends after it', () => {
  it('never brings the permission back: 400 rounds with random pauses', async () => {
    // Two applications stand for two processes: the invalidation of one reaches the load of the other through Redis.
    const [one, two] = [await here.app(), await here.app()];
    let undone = 0;
    let inRedis = 0;

    const round = async (user: number): Promise<void> => {
      const key = ['roles', user];
      const database: { roles: string[] } = { roles: ['admin'] };
      const hasRead = deferred();
      const load = async () => {
        const { roles } = database;
        hasRead.resolve();
        await delay(Math.random() * 6);
        return roles;
      };
      const early = one.cache.getOrLoad(key, load);
      await hasRead.promise;
      await delay(Math.random() * 6);
      database.roles = [];
      await two.cache.invalidate(key);
      // Begun after the invalidation: beside the old load, or after it.
      const beside = await Promise.all([one, two].map(({ cache }) => cache.getOrLoad(key, load)));
      const old = await early;
      expect([['admin'], []]).toContainEqual(old);
      const after = await Promise.all([one, two].map(({ cache }) => cache.getOrLoad(key, load)));
      undone += [...beside, ...after].filter((roles) => roles.length > 0).length;
    };

    const began = now();
    for (let first = 0; first < ROUNDS; first += AT_ONCE) {
      await times(AT_ONCE, (index) => round(first + index));
    }
    for (const name of await here.entries()) {
      if ((await here.raw.get(name))?.includes('admin')) inRedis += 1;
    }
    expect({ undone, inRedis }).toEqual({ undone: 0, inRedis: 0 });
    expect(await here.entries()).toHaveLength(ROUNDS);
    // The race took place: the store had old loads to turn away.
    expect(one.cache.stats().publishes.fenced).toBeGreaterThan(ROUNDS / 20);
    expect(now() - began).toBeLessThan(30_000);
  }, 40_000);
});

type Cache = Awaited<ReturnType<typeof here.app>>['cache'];

const WAYS = {
  'by a tag': {
    policyOf: (user: number) => ({ tags: ['roles', `user:${user}`] }),
    revoke: (cache: Cache, user: number) => cache.invalidateTags(`user:${user}`),
  },
  'by a tag that the value tells of': {
    policyOf: (user: number) => ({ valueTags: () => [`user:${user}`] }),
    revoke: (cache: Cache, user: number) => cache.invalidateTags(`user:${user}`),
  },
  'by clearing everything': {
    policyOf: () => ({}),
    revoke: (cache: Cache) => cache.clear(),
  },
} as const;

describe.each(Object.entries(WAYS))('FC-010: a revocation %s', (_, { policyOf, revoke }) => {
  it('is not undone by a load that read before it: 100 rounds with random pauses', async () => {
    const [one, two] = [await here.app(), await here.app()];
    const undone: string[] = [];

    const round = async (user: number): Promise<void> => {
      const key = ['roles', user];
      const policy = policyOf(user);
      const database: { roles: string[] } = { roles: ['admin'] };
      const hasRead = deferred();
      const load = async () => {
        const { roles } = database;
        hasRead.resolve();
        await delay(Math.random() * 6);
        return roles;
      };
      const early = one.cache.getOrLoad(key, load, policy);
      await hasRead.promise;
      await delay(Math.random() * 6);
      database.roles = [];
      await revoke(two.cache, user);
      // The process that revoked knows at once, whatever the other one still does.
      if ((await two.cache.getOrLoad(key, load, policy)).length > 0) undone.push(`beside ${user}`);
      await early;
      if ((await two.cache.getOrLoad(key, load, policy)).length > 0) undone.push(`after ${user}`);
      await until(async () => (await one.cache.getOrLoad(key, load, policy)).length === 0, {
        timeout: 3_000,
        what: 'the other process to know',
      });
      for (const { cache } of [one, two]) {
        if ((await cache.getOrLoad(key, load, policy)).length > 0) undone.push(`later ${user}`);
      }
    };
    await times(100, round);
    expect(undone).toEqual([]);
  }, 40_000);
});
