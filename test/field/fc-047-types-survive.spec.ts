import { deepStrictEqual } from 'node:assert';
import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { Origin } from '../support/origin.js';
import { untilStale } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

/** New at each look, so that nobody's change of one is seen in another. */
const everything = () => ({
  d: new Date(0),
  m: new Map<unknown, unknown>([
    [1, { x: new Date(1) }],
    ['1', new Set([new Map()])],
  ]),
  s: new Set([1, '1', 1n]),
  b: 10n,
  buf: Buffer.from([0, 255]),
  u: undefined,
  n: NaN,
  z: -0,
  inf: Infinity,
  // oxlint-disable-next-line no-sparse-arrays
  arr: [, 1],
  u8: new Uint8Array([1]),
  f64: new Float64Array([0.1, NaN]),
  bytes: new Uint8Array([1, 2, 3]).buffer,
  r: /a\/b/giu,
  url: new URL('https://example.org/a?b=c'),
  error: Object.assign(new RangeError('too much'), { code: 'E_MUCH' }),
  nothing: null,
  text: 'undefined',
  ['__proto__x']: 1,
});

@Injectable()
class Anything {
  loads = 0;

  @Cached({ ttl: '1m' })
  async all() {
    this.loads += 1;
    return everything();
  }
}

describe('FC-047: values of every type', () => {
  it('are the same on a miss, on a hit and from another process', async () => {
    // Two applications: what a process boundary adds is the bytes in Redis, and those lie between them, too.
    const [one, two] = [await here.app({ providers: [Anything] }), await here.app({ providers: [Anything] })];
    deepStrictEqual(await one.get(Anything).all(), everything());
    deepStrictEqual(await one.get(Anything).all(), everything());
    deepStrictEqual(await two.get(Anything).all(), everything());
    expect([one.get(Anything).loads, two.get(Anything).loads]).toEqual([1, 0]);
  });

  it('are the same for those who joined, and on a stale hit', async () => {
    const { cache } = await here.app();
    const policy = { ttl: 50, stale: '1m' } as const;
    const joined = await Promise.all([1, 2, 3].map(() => cache.getOrLoad('k', everything, policy)));
    for (const value of joined) deepStrictEqual(value, everything());
    await untilStale(() => cache.inspect('k'));
    const origin = new Origin();
    const { value, outcome } = await cache.getOrLoadEntry('k', origin.load, policy);
    expect(outcome).toBe('stale');
    deepStrictEqual(value, everything());
    await origin.give(1);
  });

  it.each([
    ['a top-level undefined', undefined],
    ['a top-level null', null],
    ['a top-level Date', new Date(5)],
    ['a top-level bigint', -(2n ** 80n)],
    ['a top-level Buffer', Buffer.from('ab')],
    ['a top-level -0', -0],
  ])('%s survives by itself', async (_, value) => {
    const { cache } = await here.app();
    deepStrictEqual(await cache.getOrLoad('k', () => value), value);
    deepStrictEqual(await cache.getOrLoad('k', () => 'loaded again'), value);
  });

  it('an invalid Date stays one', async () => {
    // By itself: to Node 20's own comparison no two of them are equal.
    const { cache } = await here.app();
    for (const _ of ['miss', 'hit']) {
      const { at } = await cache.getOrLoad('k', () => ({ at: new Date(NaN) }));
      expect(at).toBeInstanceOf(Date);
      expect(at.getTime()).toBeNaN();
    }
    expect(cache.stats().outcomes.fresh).toBe(1);
  });

  it.each<[string, unknown]>([
    ['a function', { f: () => 1 }],
    ['a symbol', { s: Symbol('s') }],
    ['a WeakMap', new WeakMap()],
    ['a class instance', new (class Money {})()],
  ])('%s is refused by the miss already, each time', async (_, value) => {
    const { cache } = await here.app();
    for (const _time of ['first', 'second']) {
      await expect(cache.getOrLoad('k', () => value)).rejects.toMatchObject({ code: 'UNCACHEABLE_VALUE' });
    }
    expect(await here.entries()).toEqual([]);
  });
});
