import { setTimeout as delay } from 'node:timers/promises';
import { deferred } from '../support/deferred.js';
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
