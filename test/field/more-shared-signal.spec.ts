import { getEventListeners } from 'node:events';
import { Origin } from '../support/origin.js';
import { until } from '../support/until.js';
import { errorOf, times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();
const CALLS = 50;

describe('One AbortSignal for many calls, as that of a request', () => {
  it.each([
    ['of one key', () => 'k'],
    ['of many keys', (index: number) => `k${index}`],
  ] as [string, (index: number) => string][])(
    `is no leak: ${CALLS} calls at once %s are one listener, and leave none`,
    async (_, keyOf) => {
      const { cache } = await here.app();
      const { signal } = new AbortController();
      const origin = new Origin();
      const keys = new Set(Array.from({ length: CALLS }, (__, index) => keyOf(index))).size;
      const calls = times(CALLS, (index) => cache.getOrLoad(keyOf(index), origin.load, {}, { signal }));
      await origin.started(keys);
      await until(() => cache.stats().active.callers === CALLS, { what: 'all callers to wait' });
      // From the eleventh on Node.js warns.
      expect(getEventListeners(signal, 'abort')).toHaveLength(1);
      for (let i = 0; i < keys; i++) await origin.give('v');
      expect(await calls).toEqual(Array(CALLS).fill('v'));
      expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    },
  );

  it('ends all of them when it aborts, each with the reason, and no other call', async () => {
    const { cache } = await here.app();
    const controller = new AbortController();
    const origin = new Origin();
    const { signal } = controller;
    const calls = times(CALLS, () => errorOf(cache.getOrLoad('k', origin.load, {}, { signal })));
    const other = cache.getOrLoad('k', origin.load);
    await until(() => cache.stats().active.callers === CALLS + 1, { what: 'all callers to wait' });
    const reason = new Error('the client is gone');
    controller.abort(reason);
    expect(new Set(await calls)).toEqual(new Set([reason]));
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
    await origin.give('v');
    expect(await other).toBe('v');
    expect(origin.starts).toBe(1);
  });

  it('that has aborted already ends a call before it asks anybody', async () => {
    const { cache } = await here.app();
    const origin = new Origin();
    const { signal } = gone('gone');
    await expect(cache.getOrLoad('k', origin.load, {}, { signal })).rejects.toBe('gone');
    expect(origin.starts).toBe(0);
    expect(await here.leases()).toEqual([]);
  });
});

function gone(reason: unknown): AbortController {
  const controller = new AbortController();
  controller.abort(reason);
  return controller;
}
