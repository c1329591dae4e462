import { ForwardingStore } from '../../../support/forwarding-store.js';
import { ManyOrigin, rowsOf } from '../../../support/many-origin.js';
import { Origin } from '../../../support/origin.js';
import { MemoryLab } from '../memory-lab.js';
import { stateOf } from '../state-of.js';
import { watchUnhandled } from '../watch-unhandled.js';

describe('a call for many, beside others that want the same', () => {
  let lab: MemoryLab;
  watchUnhandled();
  beforeEach(() => {
    lab = new MemoryLab();
  });

  it('leaves out what this process loads already, and does not wait for it', async () => {
    const a = await lab.process();
    a.name = '';
    const [single, origin] = [new Origin(), new ManyOrigin()];
    const before = a.get('2', single.load);
    await single.started(1);
    const call = a.many(['1', '2', '3'], origin.load);
    await origin.give(0);
    await lab.fake.settle();
    expect(origin.asked).toEqual([['1', '3']]);
    expect(await stateOf(lab, call)).toBe('pending');
    expect(a.cache.stats().active.slots).toBe(1);
    await single.give('single');
    await before;
    expect([...(await call).values()]).toEqual(['v1', 'single', 'v3']);
  });

  it('is joined by single calls', async () => {
    const a = await lab.process();
    a.name = '';
    const origin = new ManyOrigin();
    const call = a.many(['1', '2'], origin.load);
    await origin.started(0);
    const single = a.get('2', () => 'not loaded');
    await origin.give(0);
    expect([await call, await single]).toEqual([rowsOf(['1', '2']), 'v2']);
  });

  it('is each id once for overlapping calls of a process', async () => {
    const a = await lab.process();
    const origin = new ManyOrigin();
    const calls = [
      a.many([1, 2, 3], origin.load),
      a.many([2, 3, 4], origin.load),
      a.many([3, 1], origin.load),
    ];
    await lab.fake.settle();
    expect(origin.asked).toEqual([[1, 2, 3], [4]]);
    await origin.give(0);
    await origin.give(1);
    expect(await Promise.all(calls)).toEqual([rowsOf([1, 2, 3]), rowsOf([2, 3, 4]), rowsOf([3, 1])]);
  });

  it('is an entry once for ids that have one key', async () => {
    const a = await lab.process();
    const origin = new ManyOrigin();
    const call = a.many(['A', 'a', 'b'], origin.load, { key: (id: string) => id.toLowerCase() });
    await origin.give(0);
    expect([...(await call)]).toEqual([
      ['A', 'vA'],
      ['a', 'vA'],
      ['b', 'vb'],
    ]);
    expect(origin.asked).toEqual([['A', 'b']]);
  });

  it('comes before the wait for what other processes load', async () => {
    const [a, b] = [await lab.process(), await lab.process()];
    const origin = new ManyOrigin();
    const theirs = b.many([1, 2], origin.load);
    await origin.started(0);
    const ours = a.many([1, 2, 3, 4], origin.load);
    await origin.started(1);
    expect(origin.asked).toEqual([
      [1, 2],
      [3, 4],
    ]);
    await origin.give(1);
    await lab.fake.settle();
    // Its own part is stored, and its slot is free, while it waits for the others'.
    expect(a.cache.stats().active.slots).toBe(0);
    expect(await b.many([3, 4], origin.load)).toEqual(rowsOf([3, 4]));
    await origin.give(0);
    expect(await Promise.all([theirs, ours])).toEqual([rowsOf([1, 2]), rowsOf([1, 2, 3, 4])]);
    expect(origin.loads).toHaveLength(2);
  });

  it('takes over together what a process that died was loading', async () => {
    const [a, b] = [await lab.process(), await lab.process({}, (store) => new Mute(store))];
    const origin = new ManyOrigin();
    void b.many([1, 2, 3], origin.load);
    await origin.started(0);
    const call = a.many([1, 2, 3, 4], origin.load);
    await origin.give(1);
    await lab.fake.advance(3_100);
    expect(origin.asked).toEqual([[1, 2, 3], [4], [1, 2, 3]]);
    await origin.give(2);
    expect(await call).toEqual(rowsOf([1, 2, 3, 4]));
  });

  it('is one call after waitTimeout too', async () => {
    const [a, b] = [await lab.process(), await lab.process()];
    const origin = new ManyOrigin();
    const theirs = b.many([1, 2], origin.load);
    await origin.started(0);
    const policy = { waitTimeout: 500, onWaitTimeout: 'load' } as const;
    const call = a.many([1, 2], origin.load, policy);
    await lab.fake.advance(510);
    await origin.give(1);
    expect(await call).toEqual(rowsOf([1, 2]));
    expect(origin.asked).toEqual([
      [1, 2],
      [1, 2],
    ]);
    await origin.give(0);
    await theirs;
  });
});

/** From its first grant on it is not heard of: its process died. */
class Mute extends ForwardingStore {
  override renew(): never {
    throw new Error('dead');
  }
}
