import { Injectable } from '@nestjs/common';
import { Cached, CacheEvict, InvalidationError } from 'nestjs-stampede-cache';
import { until } from '../support/until.js';
import type { App } from './support/app.js';
import { errorOf } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

/** How long a change may wait for Redis, ms. */
const BUDGET = 300;
const source = new Map<number, string>();

@Injectable()
class Documents {
  @Cached({ ttl: '1h', tags: ['documents'] })
  async find(id: number): Promise<string | null> {
    return source.get(id) ?? null;
  }

  @CacheEvict({ of: 'find', args: (_result, id) => [id] })
  async remove(id: number): Promise<boolean> {
    return source.delete(id);
  }

  @CacheEvict({ of: 'find', args: (_result, id) => [id], onFailure: 'throw' })
  async removeForSure(id: number): Promise<boolean> {
    return source.delete(id);
  }
}

type Change = readonly [what: string, change: (app: App) => Promise<unknown>];

const CHANGES: readonly Change[] = [
  ['invalidate', ({ cache }) => cache.of(Documents, 'find').invalidate(1)],
  ['invalidate, held off', ({ cache }) => cache.of(Documents, 'find').invalidate(1, { holdOff: '1s' })],
  ['set', ({ cache }) => cache.of(Documents, 'find').set([1], null)],
  ['invalidateTags', ({ cache }) => cache.invalidateTags('documents')],
  ['clear of the method', ({ cache }) => cache.of(Documents, 'find').clear()],
  ['clear', ({ cache }) => cache.clear()],
  [
    'deferInvalidations',
    ({ cache }) => cache.deferInvalidations(() => cache.of(Documents, 'find').invalidate(1)),
  ],
  ["@CacheEvict with onFailure: 'throw'", (app) => app.get(Documents).removeForSure(1)],
];

interface Kit {
  readonly app: App;
  readonly other: App;
  readonly seen: () => Promise<(string | null)[]>;
}

async function start(): Promise<Kit> {
  source.set(1, 'document');
  const cache = { redisWriteTimeout: BUDGET, redisTimeout: BUDGET };
  const app = await here.app({ cache, providers: [Documents] });
  const other = await here.app({ cache, providers: [Documents] });
  const seen = () => Promise.all([app, other].map((each) => each.get(Documents).find(1)));
  expect(await seen()).toEqual(['document', 'document']);
  return { app, other, seen };
}

/** Ways in which Redis takes no changes, and their end. */
const ILLNESSES = {
  'does not answer': { begin: async () => here.redis.pause(), end: async () => here.redis.resume() },
  'is read-only': {
    begin: async () => void (await here.raw.replicaof(here.redis.host, 1)),
    end: async () => void (await here.raw.replicaof('NO', 'ONE')),
  },
} as const;

describe.each(Object.entries(ILLNESSES))(
  'FC-032: a document was deleted while Redis %s',
  (illness, { begin, end }) => {
    it.each(CHANGES)('%s says so, and is made up for as soon as it can be', async (_, change) => {
      const { app, seen } = await start();
      await begin();
      try {
        source.delete(1);
        const asked = performance.now();
        const error = await errorOf(change(app));
        expect(error).toBeInstanceOf(InvalidationError);
        expect((error as InvalidationError).keys).toHaveLength(1);
        // Two steps at most, each within its budget.
        expect(performance.now() - asked).toBeLessThan(2 * BUDGET + 500);
        // Here nobody gets it any more, whatever Redis still holds.
        expect(await app.get(Documents).find(1)).toBeNull();
        expect(app.cache.stats().active.unsettled).toBeGreaterThan(0);
      } finally {
        await end();
      }
      const healed = performance.now();
      await until(async () => (await seen()).every((value) => value === null), {
        what: 'the document to be gone everywhere',
      });
      expect(performance.now() - healed).toBeLessThan(illness === 'does not answer' ? 3_000 : 2_500);
      await until(() => app.cache.stats().active.unsettled === 0, { what: 'the retry to succeed' });
      expect(await seen()).toEqual([null, null]);
      expect(app.events.filter((e) => e.type === 'invalidate' && e.result === 'failed')).not.toEqual([]);
      expect(app.events.filter((e) => e.type === 'invalidate' && e.result === 'retried')).not.toEqual([]);
    });

    it("@CacheEvict by default returns its method's result, warns, and makes up for it", async () => {
      const { app, seen } = await start();
      await begin();
      try {
        expect(await app.get(Documents).remove(1)).toBe(true);
        expect(await app.get(Documents).find(1)).toBeNull();
        expect(here.lines.warnings.join('\n')).toMatch(/@CacheEvict on Documents\.remove.*not acknowledged/);
      } finally {
        await end();
      }
      await until(async () => (await seen()).every((value) => value === null), {
        what: 'the document to be gone everywhere',
      });
    });
  },
);

describe('FC-032: a process that ends', () => {
  it('tries once more before it does', async () => {
    const { app, other } = await start();
    await here.raw.call('ACL', 'SETUSER', 'default', '-unlink');
    try {
      source.delete(1);
      expect(await errorOf(app.cache.of(Documents, 'find').invalidate(1))).toBeInstanceOf(InvalidationError);
      expect(await other.get(Documents).find(1)).toBe('document');
    } finally {
      await here.raw.call('ACL', 'SETUSER', 'default', '+unlink');
    }
    await app.close();
    expect(await other.get(Documents).find(1)).toBeNull();
  });
});
