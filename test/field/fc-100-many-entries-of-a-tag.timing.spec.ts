import { until } from '../support/until.js';
import { times } from './support/conditions.js';
import { fill, longestStall, sweeping, total } from './support/commands.js';
import { field, NAMESPACE } from './support/field.js';

const here = field();

const TAGS = ['t1', 't2', 't3', 't4'];
/** Entries through the cache, and copies of one of them: 300,000 a tag in the field. */
const ENTRIES = 2_000;
const COPIES = 300_000;
const NAME = 'x'.repeat(150);

describe('FC-100: four tags that three hundred thousand entries carry', () => {
  it('are invalidated by a command each, in no time, and all of those entries are misses', async () => {
    const [one, two] = [await here.app(), await here.app()];
    await times(ENTRIES, (i) => one.cache.set([NAME, i], i, { ttl: '1h', tags: [TAGS[i % 4] as string] }));
    await one.cache.set('all', 1, { ttl: '1h', tags: TAGS });
    await one.cache.set('none', 1, { ttl: '1h', tags: ['t5'] });
    const [sample = ''] = await here.entries();
    await fill(here.raw, `${NAMESPACE}:d:{${NAME}:`, COPIES, (await here.raw.get(sample)) ?? '');
    await here.raw.config('SET', 'slowlog-log-slower-than', '10000');
    await here.raw.slowlog('RESET');
    await one.cache.invalidateTags('warm-up');

    const durations: number[] = [];
    let stall = 0;
    const bytes = async () => Number(/total_net_input_bytes:(\d+)/.exec(await here.raw.info('stats'))?.[1]);
    const sent = await bytes();
    const counts = await here.redis.countCommands(async () => {
      stall = await longestStall(async () => {
        for (let round = 0; round < 20; round++) {
          const began = performance.now();
          await one.cache.invalidateTags(...TAGS);
          durations.push(performance.now() - began);
        }
      });
    });
    expect(sweeping(counts)).toEqual([]);
    expect(counts['evalsha']).toBe(20 * TAGS.length);
    // TIME, GET, PTTL, SET and PUBLISH of a script; and some beats.
    expect(total(counts)).toBeLessThan(20 * TAGS.length * 7 + 50);
    expect((await bytes()) - sent).toBeLessThan(200_000);
    expect(median(durations)).toBeLessThan(10);
    expect(stall).toBeLessThan(50);
    expect(await here.raw.slowlog('GET')).toEqual([]);

    const left = async (cache: typeof one.cache) =>
      (await times(ENTRIES, (i) => cache.get([NAME, i]))).filter((value) => value !== undefined).length;
    expect(await left(one.cache)).toBe(0);
    await until(async () => (await left(two.cache)) === 0, {
      what: 'the other process to know',
      timeout: 2_000,
    });
    for (const { cache } of [one, two]) {
      expect([await cache.get('all'), await cache.get('none')]).toEqual([undefined, 1]);
    }
  }, 60_000);

  it('a thousand tags at once are as many commands', async () => {
    const app = await here.app();
    const tags = Array.from({ length: 1_000 }, (_, i) => `${NAME}:${i}`);
    const counts = await here.redis.countCommands(() => app.cache.invalidateTags(...tags, ...tags));
    // The first one brings the script along.
    expect((counts['evalsha'] ?? 0) + (counts['eval'] ?? 0)).toBe(tags.length);
    expect(await here.raw.dbsize()).toBe(tags.length);
  }, 30_000);
});

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}
