import { Origin } from '../support/origin.js';
import { times, untilStale } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

interface Order {
  readonly list: number[];
  secret?: string;
}
const order = (): Order => ({ list: [1, 2], secret: 's' });

describe('FC-048: callers that change what they get', () => {
  it('change their own copy: 50 who shared a load, the loader itself, and those who come later', async () => {
    const app = await here.app();
    const origin = new Origin();
    const load = origin.load as () => Promise<Order>;
    const calls = times(50, async (id) => {
      const value = await app.cache.getOrLoad('k', load);
      value.list.push(id);
      delete value.secret;
      return { id, value };
    });
    await app.waiting(50);
    const kept = order();
    await origin.give(kept);
    const all = await calls;
    kept.list.push(-1);
    kept.secret = 'changed by the loader';
    for (const { id, value } of all) expect(value).toEqual({ list: [1, 2, id] });
    expect(new Set(all.map(({ value }) => value)).size).toBe(50);
    const warm = await times(3, () => app.cache.getOrLoad('k', load));
    for (const value of warm) expect(value).toEqual(order());
    expect(new Set(warm).size).toBe(3);
    expect(origin.starts).toBe(1);
  });

  it('can not, where they share one value: it is frozen throughout', async () => {
    const app = await here.app();
    const policy = { shared: true } as const;
    const [one, two] = await times(2, () => app.cache.getOrLoad('k', order, policy));
    const hit = await app.cache.getOrLoad('k', order, policy);
    expect(two).toBe(one);
    for (const value of [one!, hit]) {
      expect(() => value.list.push(3)).toThrow(TypeError);
      expect(() => delete value.secret).toThrow(TypeError);
      expect(value).toEqual(order());
    }
  });

  it('do not change a stale value that is served to others while it is refreshed', async () => {
    const { cache } = await here.app();
    const policy = { ttl: 20, stale: '1m' } as const;
    await cache.getOrLoad('k', order, policy);
    await untilStale(() => cache.inspect('k'));
    const never = new Origin();
    const stale = await times(5, () => cache.getOrLoad('k', never.load as () => Promise<Order>, policy));
    stale[0]!.list.push(9);
    for (const value of stale.slice(1)) expect(value).toEqual(order());
    await never.give(order());
  });
});
