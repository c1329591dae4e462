import { until } from '../support/until.js';
import { times } from './support/conditions.js';
import { fill, longestStall, sweeping, total } from './support/commands.js';
import { field, NAMESPACE } from './support/field.js';

const here = field();

/** Real entries; the rest of the namespace is filled with copies of one of them. */
const ENTRIES = 1_000;
const COPIES = 100_000;

describe('FC-088: clear of a hundred thousand keys', () => {
  it('is one script, whatever their number, and holds nobody up', async () => {
    const [one, two] = [await here.app(), await here.app()];
    await times(ENTRIES, (i) => one.cache.set(['k', i], i, { ttl: '1h', tags: ['t'] }));
    const [sample = ''] = await here.entries();
    await fill(here.raw, `${NAMESPACE}:d:{copy:`, COPIES, (await here.raw.get(sample)) ?? '');
    const size = await here.raw.dbsize();
    expect(size).toBeGreaterThan(COPIES + ENTRIES);
    await here.raw.config('SET', 'slowlog-log-slower-than', '10000');
    await here.raw.slowlog('RESET');

    // Loaded once before: the script is known to the server, as in the life of an application.
    await one.cache.clear();
    await times(ENTRIES, (i) => one.cache.set(['k', i], i, { ttl: '1h', tags: ['t'] }));
    const heap = process.memoryUsage().heapUsed;
    let took = 0;
    let stall = 0;
    const counts = await here.redis.countCommands(async () => {
      const began = performance.now();
      stall = await longestStall(() => one.cache.clear());
      took = performance.now() - began;
    });
    expect(sweeping(counts)).toEqual([]);
    expect([counts['unlink'], counts['del'], counts['evalsha']]).toEqual([undefined, undefined, 1]);
    // The beats of two processes may fall into it.
    expect(total(counts)).toBeLessThan(20);
    expect(took).toBeLessThan(100);
    expect(stall).toBeLessThan(50);
    expect(process.memoryUsage().heapUsed - heap).toBeLessThan(30e6);
    expect(await here.raw.slowlog('GET')).toEqual([]);

    const left = async (cache: typeof one.cache) =>
      (await times(ENTRIES, (i) => cache.get(['k', i]))).filter((value) => value !== undefined).length;
    expect(await left(one.cache)).toBe(0);
    await until(async () => (await left(two.cache)) === 0, {
      what: 'the other process to know',
      timeout: 2_000,
    });
    // The memory comes back by ttl: nothing was walked over.
    expect(await here.raw.dbsize()).toBeGreaterThanOrEqual(size);
    for (const name of (await here.entries()).filter((each) => each.includes("'k'")).slice(0, 50))
      expect(await here.raw.pttl(name)).toBeGreaterThan(0);
  }, 60_000);

  it('again and again leaves one small key, however many methods there are', async () => {
    const app = await here.app();
    for (let i = 0; i < 200; i++) await app.cache.clear();
    expect(await here.raw.keys(`${NAMESPACE}:*`)).toEqual([`${NAMESPACE}:epochs`]);
    expect(await here.raw.strlen(`${NAMESPACE}:epochs`)).toBeLessThan(100);
  });
});
