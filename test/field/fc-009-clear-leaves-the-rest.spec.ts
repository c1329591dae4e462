import { getStampedeCacheToken, StampedeCacheModule, type StampedeCacheService } from 'nestjs-stampede-cache';
import { sweeping } from './support/commands.js';
import { field, NAMESPACE } from './support/field.js';

const here = field();

/** Of others in the same database. The last ones look as if they were ours. */
const FOREIGN = [
  'bull:1',
  'sess:1',
  'other:cache:1',
  `${NAMESPACE}`,
  `${NAMESPACE}3:d:{:'k'}`,
  `${NAMESPACE}:`,
  `x:${NAMESPACE}:d:{:'k'}`,
];

describe('FC-009: clear', () => {
  it('leaves every key of others alone, those of a namespace that begins alike too', async () => {
    const mine = await here.app();
    const others = [
      await here.app({ cache: { namespace: 'other' } }),
      await here.app({ cache: { namespace: `${NAMESPACE}:d` } }),
      await here.app({ cache: { namespace: `${NAMESPACE}2` } }),
    ];
    await Promise.all(FOREIGN.map((key) => here.raw.set(key, `of ${key}`)));
    for (const { cache } of [mine, ...others]) await cache.set('k', 'mine', { tags: ['t'] });
    const before = (await here.raw.keys('*')).sort();

    const counts = await here.redis.countCommands(() => mine.cache.clear());
    expect(sweeping(counts)).toEqual([]);
    expect([counts['unlink'] ?? 0, counts['del'] ?? 0]).toEqual([0, 0]);
    expect(await mine.cache.get('k')).toBeUndefined();
    for (const { cache } of others) expect(await cache.get('k')).toBe('mine');
    expect(await Promise.all(FOREIGN.map((key) => here.raw.get(key)))).toEqual(
      FOREIGN.map((key) => `of ${key}`),
    );
    // Nothing at all has gone; the memory of what was cleared comes back by its ttl.
    const after = (await here.raw.keys('*')).sort();
    expect(after.filter((key) => !before.includes(key))).toEqual([`${NAMESPACE}:epochs`]);
    expect(before.filter((key) => !after.includes(key))).toEqual([]);
  });

  it('of one cache of an application leaves its other one alone', async () => {
    const app = await here.boot({
      imports: [
        StampedeCacheModule.forRoot(here.options()),
        StampedeCacheModule.forRoot({ ...here.options(), namespace: undefined, name: 'reports' }),
      ],
    });
    const [one, reports] = [undefined, 'reports'].map((name) =>
      app.get<StampedeCacheService>(getStampedeCacheToken(name)),
    ) as [StampedeCacheService, StampedeCacheService]; // one for each name
    for (const cache of [one, reports]) await cache.set('k', 1);
    await one.clear();
    expect([await one.get('k'), await reports.get('k')]).toEqual([undefined, 1]);
    await one.set('k', 2);
    await reports.clear();
    expect([await one.get('k'), await reports.get('k')]).toEqual([2, undefined]);
  });

  it('in one database leaves the same namespace in another one alone', async () => {
    const url = (db: number) => `${here.redis.url}/${db}`;
    const [first, second] = [
      await here.app({ cache: { redis: url(0) } }),
      await here.app({ cache: { redis: url(1) } }),
    ];
    for (const { cache } of [first, second]) await cache.set('k', 1);
    await first.cache.clear();
    expect([await first.cache.get('k'), await second.cache.get('k')]).toEqual([undefined, 1]);
  });

  it.each(['', undefined, '{}', 'a}b', 'a\nb'])(
    'needs a namespace that is one: %j is refused',
    async (namespace) => {
      const error = await here.bootError(here.withCache({ cache: { namespace } }));
      expect(error.message).toMatch(/namespace/);
    },
  );
});
