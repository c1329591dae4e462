import { LoadTimeoutError } from 'nestjs-stampede-cache';
import { Origin } from '../support/origin.js';
import { until } from '../support/until.js';
import { errorOf, times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

/** 1 s in the field. */
const TIMEOUT = 400;
const POLICY = { loadTimeout: TIMEOUT } as const;

describe('FC-025: a loader that never settles', () => {
  it.each([
    ['resolves at last', (origin: Origin) => origin.give('late')],
    ['rejects at last', (origin: Origin) => origin.fail(new Error('late'))],
  ])('is given up at loadTimeout and changes nothing when it %s', async (_, end) => {
    const { cache } = await here.app();
    const origin = new Origin();
    const began = performance.now();
    const errors = await times(10, () => errorOf(cache.getOrLoad('k', origin.load, POLICY)));
    const took = performance.now() - began;
    for (const error of errors) {
      expect(error).toBeInstanceOf(LoadTimeoutError);
      expect(error).toMatchObject({ code: 'LOAD_TIMEOUT', statusCode: 503 });
    }
    expect(took).toBeGreaterThan(TIMEOUT - 20);
    expect(took).toBeLessThan(TIMEOUT + 100);
    expect(origin.starts).toBe(1);
    expect(cache.stats().active).toMatchObject({ flights: 0, slots: 0, queued: 0, callers: 0 });
    await until(async () => (await here.leases()).length === 0, { what: 'the lease to go' });

    // An unhandled rejection of the late end would fail this file.
    await end(origin);
    await new Promise((resolve) => setImmediate(resolve));
    expect(await here.entries()).toEqual([]);
    expect(await cache.getOrLoad('k', () => 'well', POLICY)).toBe('well');
    expect(await cache.get('k')).toBe('well');
  });

  it('is told so by its signal, and another process takes over', async () => {
    const [one, two] = [await here.app(), await here.app()];
    const origin = new Origin();
    let signal: AbortSignal | undefined;
    const load = (ctx: { signal: AbortSignal }) => ((signal = ctx.signal), origin.load());
    const hung = errorOf(one.cache.getOrLoad('k', load, POLICY));
    await origin.started(1);
    const other = two.cache.getOrLoad('k', () => 'theirs', { loadTimeout: '30s' });
    await two.happened('wait.start');
    expect((await hung).name).toBe('LoadTimeoutError');
    expect(signal?.aborted).toBe(true);
    expect(await other).toBe('theirs');
    await origin.give('late');
    expect(await one.cache.getOrLoad('k', origin.load)).toBe('theirs');
  });
});
