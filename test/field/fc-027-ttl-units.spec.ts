import { Injectable } from '@nestjs/common';
import { Cached, parseDuration, type StampedeCacheModuleOptions } from 'nestjs-stampede-cache';
import { App } from './support/app.js';
import { field } from './support/field.js';

const here = field();

@Injectable()
class Prices {
  @Cached({ ttl: '5m' })
  async decorated(): Promise<number> {
    return 1;
  }

  @Cached({ ttl: 300_000 })
  async inMilliseconds(): Promise<number> {
    return 1;
  }

  @Cached({ ttl: () => '5m' })
  async computed(): Promise<number> {
    return 1;
  }

  @Cached()
  async byModule(): Promise<number> {
    return 1;
  }

  @Cached({ ttl: '5m', stale: '1m' })
  async withStale(): Promise<number> {
    return 1;
  }
}

const FIVE = { ttl: '5m' } as const;
/** As an application reads it from its environment. */
const ENVIRONMENT = { CACHE_TTL: '5m' };

type Entrance = (app: App) => Promise<unknown>;

const ENTRANCES: readonly (readonly [string, Entrance])[] = [
  ['@Cached, with a unit', (app) => app.get(Prices).decorated()],
  ['@Cached, in milliseconds', (app) => app.get(Prices).inMilliseconds()],
  ['@Cached, computed per value', (app) => app.get(Prices).computed()],
  ["the module's default, for @Cached", (app) => app.get(Prices).byModule()],
  ["the module's default, for getOrLoad", (app) => app.cache.getOrLoad('k', () => 1)],
  ["the module's default, for set", (app) => app.cache.set('k', 1)],
  ['getOrLoad', (app) => app.cache.getOrLoad('k', () => 1, FIVE)],
  ['ctx.ttl() in a load', (app) => app.cache.getOrLoad('k', (ctx) => (ctx.ttl('5m'), 1), { ttl: '1s' })],
  ['set', (app) => app.cache.set('k', 1, FIVE)],
  ["of(…).set, by the method's policy", (app) => app.cache.of(Prices, 'decorated').set([], 1)],
  [
    'the environment, through parseDuration',
    (app) => app.cache.getOrLoad('k', () => 1, { ttl: parseDuration(ENVIRONMENT.CACHE_TTL) }),
  ],
];

const start = (cache: StampedeCacheModuleOptions = {}) =>
  here.app({ cache: { ...cache, policy: { ...FIVE, ...cache.policy } }, providers: [Prices] });

describe('FC-027: five minutes, asked for through every entrance', () => {
  it.each(ENTRANCES)('are 300,000 ms in Redis: %s', async (_, enter) => {
    await enter(await start());
    const pttl = await here.pttl();
    expect(pttl).toBeGreaterThan(299_000);
    expect(pttl).toBeLessThanOrEqual(300_000);
  });

  it.each(ENTRANCES)(
    'are never more with the default jitter, and at least 270,000 ms: %s',
    async (_, enter) => {
      await enter(await start({ policy: { jitter: undefined } }));
      const pttl = await here.pttl();
      expect(pttl).toBeGreaterThan(269_000);
      expect(pttl).toBeLessThanOrEqual(300_000);
    },
  );

  it('have the stale window on top', async () => {
    const app = await start();
    await app.get(Prices).withStale();
    const pttl = await here.pttl();
    expect(pttl).toBeGreaterThan(359_000);
    expect(pttl).toBeLessThanOrEqual(360_000);
  });
});

describe('FC-027: a ttl whose unit is likely to be wrong', () => {
  const warningsOf = async (ttl: never) => {
    @Injectable()
    class Suspicious {
      @Cached({ ttl })
      async get(): Promise<number> {
        return 1;
      }
    }
    const app = await here.app({ providers: [Suspicious] });
    await app.get(Suspicious).get();
    await app.get(Suspicious).get();
    return here.lines.warnings;
  };

  it('is told of once: seconds meant, milliseconds given', async () => {
    expect(await warningsOf(300 as never)).toEqual([expect.stringMatching(/Suspicious\.get.*'300s'/)]);
  });

  it('is told of once: over a year', async () => {
    expect(await warningsOf((300_000 * 1_000_000) as never)).toEqual([
      expect.stringMatching(/Suspicious\.get.*year/),
    ]);
  });

  it('is not told of when it says its unit, or is an ordinary number', async () => {
    expect(await warningsOf('300ms' as never)).toEqual([]);
    expect(await warningsOf(60_000 as never)).toEqual([]);
  });

  it.each(['5 minutes', '300', '-5m', '', '5M', 'PT5M', '1e3s'])(
    'from the environment is refused when it is %j',
    (text) => {
      expect(() => parseDuration(text)).toThrow(/is not a duration/);
    },
  );

  it.each([NaN, Infinity, -1, null, '5 minutes', '300', {}])(
    'fails the bootstrap when it is %p',
    async (ttl) => {
      @Injectable()
      class Wrong {
        @Cached({ ttl: ttl as never })
        async get(): Promise<number> {
          return 1;
        }
      }
      const error = await here.bootError(here.withCache({ providers: [Wrong] }));
      expect(error.message).toMatch(/Wrong\.get.*ttl/);
    },
  );
});
