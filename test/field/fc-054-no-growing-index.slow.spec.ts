import { until } from '../support/until.js';
import type { App } from './support/app.js';
import { times } from './support/conditions.js';
import { field, NAMESPACE } from './support/field.js';

const here = field();

/** A million in the field: the waves of them overlap with the expiry of those before. */
const ENTRIES = 4_000;
const AT_ONCE = 500;
const loads = { concurrency: AT_ONCE, queueTimeout: '20s' } as const;
const TAGS = 10;
/** A record of an invalidated tag is kept for so long at least, ms; nothing of the cache lives longer than its entries otherwise. */
const INVALIDATED = 600_000;

/** How long each key of the cache still lives, ms; -1: for ever. */
async function lives(pattern = `${NAMESPACE}:*`): Promise<Map<string, number>> {
  const names = await here.raw.keys(pattern);
  const lives = await Promise.all(names.map((name) => here.raw.pttl(name)));
  return new Map(names.map((name, index) => [name, lives[index] ?? -2]));
}

async function write(app: App, count: number, ttl: number, tagsOf: (i: number) => string[]): Promise<void> {
  for (let from = 0; from < count; from += AT_ONCE) {
    await times(AT_ONCE, (i) =>
      app.cache.getOrLoad(['e', from + i], () => 1, { ttl, tags: tagsOf(from + i) }),
    );
  }
}

describe('FC-054: four thousand entries with a ttl of 1 s, a tag of ten each', () => {
  it('leave ten records of tags behind, and nothing else', async () => {
    const app = await here.app({ cache: { loads } });
    await write(app, ENTRIES, 1_000, (i) => [`t${i % TAGS}`]);
    const gone = async () => (await here.raw.dbsize()) <= TAGS;
    await until(gone, { what: 'the entries to go', timeout: 20_000, every: 50 });
    await times(100, (i) => app.cache.getOrLoad(['more', i], () => 1, { ttl: '1m', tags: [`t${i % TAGS}`] }));
    expect(await here.raw.dbsize()).toBeLessThanOrEqual(100 + TAGS);
    for (const [name, life] of await lives()) {
      expect([name, await here.raw.type(name), life > 0 && life <= INVALIDATED]).toEqual([
        name,
        'string',
        true,
      ]);
      expect(await here.raw.strlen(name)).toBeLessThan(512);
    }
  }, 90_000);
});

describe('FC-054: tags of which each entry has one of its own', () => {
  it('go as their entries do', async () => {
    const app = await here.app({ cache: { loads } });
    await write(app, 1_000, 200, (i) => [`own:${i}`]);
    for (const [name, life] of await lives(`${NAMESPACE}:t:*`)) {
      // While a load runs its tag is held for the time that a lost lease would take to be noticed.
      expect([name, life > 0 && life < 60_000]).toEqual([name, true]);
    }
    await until(async () => (await here.raw.dbsize()) === 0, {
      what: 'all of it to go',
      timeout: 20_000,
      every: 50,
    });
  }, 40_000);

  it('and are invalidated one by one go too, in the end', async () => {
    const app = await here.app();
    await times(500, (i) => app.cache.invalidateTags(`own:${i}`));
    const records = await lives();
    expect(records.size).toBe(500);
    for (const [name, life] of records) expect([name, life > 0 && life <= INVALIDATED]).toEqual([name, true]);
  });
});

describe('FC-054: a record of a tag', () => {
  const POLICY = { ttl: '10s', stale: '10s', tags: ['t'] } as const;

  type Way = readonly [what: string, write: (app: App) => Promise<unknown>];
  const WAYS: readonly Way[] = [
    ['a load', ({ cache }) => cache.getOrLoad('k', () => 1, POLICY)],
    [
      'a load whose ttl is computed',
      ({ cache }) => cache.getOrLoad('k', () => 1, { ...POLICY, ttl: () => '2h' }),
    ],
    ['a load that sets its ttl', ({ cache }) => cache.getOrLoad('k', (ctx) => (ctx.ttl('2h'), 1), POLICY)],
    ['a load that names it', ({ cache }) => cache.getOrLoad('k', (ctx) => (ctx.tags('t'), 1), { ttl: '2h' })],
    ['its value', ({ cache }) => cache.getOrLoad('k', () => 1, { ttl: '2h', valueTags: () => ['t'] })],
    ['set', ({ cache }) => cache.set('k', 1, { ...POLICY, ttl: '2h' })],
    ['set, by its value', ({ cache }) => cache.set('k', 1, { ttl: '2h', valueTags: () => ['t'] })],
    ['an unfenced write', ({ cache }) => cache.getOrLoad('k', () => 1, { ...POLICY, coordinate: 'process' })],
    [
      '"not found"',
      ({ cache }) => cache.getOrLoad<number | null>('k', () => null, { ...POLICY, negativeTtl: '9s' }),
    ],
    [
      'a load that keeps its stale value',
      async ({ cache }) => {
        await cache.set('k', 1, POLICY);
        await here.raw.pexpire(`${NAMESPACE}:t:{t}`, 15_000);
        await cache.expire('k');
        await cache.getOrLoad('k', (ctx) => ctx.notModified(), { ...POLICY, ttl: '2h' }, { fresh: true });
      },
    ],
  ];

  it.each(WAYS)('outlives the entry that carries it, and not for ever: after %s', async (_, act) => {
    const app = await here.app();
    await act(app);
    const entry = async () => Number((await lives(`${NAMESPACE}:d:*`)).get(`${NAMESPACE}:d:{:'k'}`) ?? -2);
    await until(async () => (await entry()) > 0, { what: 'the entry' });
    // The tag first: both only get older meanwhile.
    const tag = await here.raw.pttl(`${NAMESPACE}:t:{t}`);
    const left = await entry();
    expect(tag).toBeGreaterThanOrEqual(left);
    expect(tag).toBeLessThan(left + 70_000);
  });

  it('is not shortened by an entry that lives shorter, nor by an invalidation', async () => {
    const { cache } = await here.app();
    await cache.set('long', 1, { ttl: '3h', tags: ['t'] });
    await cache.set('short', 1, { ttl: '1s', tags: ['t'] });
    await cache.getOrLoad('loaded', () => 1, { ttl: '1s', tags: ['t'] });
    await cache.invalidateTags('t');
    await cache.expireTags('t');
    expect(await here.raw.pttl(`${NAMESPACE}:t:{t}`)).toBeGreaterThan(2.9 * 3_600_000);
  });
});
