import { setTimeout as delay } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

const LOAD = 50;
/** The longest a call made inside a load waits for another process. */
const NESTED_WAIT = 1_000;
/** 100 in the field. */
const REPEATS = 50;

@Injectable()
class Pair {
  @Cached({ key: (id) => id })
  async left(id: number, depth = 0): Promise<string> {
    await delay(LOAD);
    return depth === 0 ? `left ${await this.right(id, 1)}` : 'left';
  }

  @Cached({ key: (id) => id })
  async right(id: number, depth = 0): Promise<string> {
    await delay(LOAD);
    return depth === 0 ? `right ${await this.left(id, 1)}` : 'right';
  }
}

@Injectable()
class Chain {
  loads = 0;

  @Cached()
  async down(level: number): Promise<number> {
    this.loads += 1;
    return level === 0 ? 0 : 1 + (await this.down(level - 1));
  }
}

describe('FC-037: cached methods that call each other', () => {
  it('across, in two processes, 50 times at once: all calls settle after the bounded wait', async () => {
    // Two applications stand for two processes: neither knows what the loads of the other wait for.
    const cache = { loads: { concurrency: 500 } };
    const [one, two] = [
      await here.app({ providers: [Pair], cache }),
      await here.app({ providers: [Pair], cache }),
    ];
    const began = performance.now();
    const calls = times(REPEATS, async (id) => {
      const answers = await Promise.all([one.get(Pair).left(id), two.get(Pair).right(id)]);
      return { answers, took: performance.now() - began };
    });
    const all = await calls;
    for (const { answers } of all) {
      expect(answers[0]).toMatch(/^left/);
      expect(answers[1]).toMatch(/^right/);
    }
    expect(Math.max(...all.map(({ took }) => took))).toBeLessThan(NESTED_WAIT + 2 * LOAD + 800);
    for (const app of [one, two]) {
      expect(app.cache.stats().active).toMatchObject({ flights: 0, slots: 0, queued: 0, callers: 0 });
    }
  }, 15_000);

  it('in one direction load once each, without waiting', async () => {
    const app = await here.app({ providers: [Chain], cache: { policy: { ttl: '1m' } } });
    expect(await app.get(Chain).down(1)).toBe(1);
    expect(app.get(Chain).loads).toBe(2);
  });

  it('20 deep, with 10 slots, and 30 such chains at once: none waits for a slot that its own chain holds', async () => {
    const cache = { loads: { concurrency: 10, queueTimeout: '5s' } } as const;
    const app = await here.app({ providers: [Chain], cache });
    expect(await app.get(Chain).down(20)).toBe(20);
    expect(app.get(Chain).loads).toBe(21);
    const deep = (chain: number, level: number): Promise<number> =>
      app.cache.getOrLoad([chain, level], async () => (level === 0 ? 0 : 1 + (await deep(chain, level - 1))));
    expect(await times(30, (chain) => deep(chain, 20))).toEqual(Array(30).fill(20));
  });
});
