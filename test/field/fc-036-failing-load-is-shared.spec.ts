import { RemoteLoadError } from 'nestjs-stampede-cache';
import { Origin } from '../support/origin.js';
import { errorOf, times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

describe('FC-036: a load that fails while many wait for it', () => {
  it('fails once for 100 callers, with one error, and is not stored', async () => {
    const app = await here.app();
    const origin = new Origin();
    const calls = times(100, () => errorOf(app.cache.getOrLoad('k', origin.load)));
    await app.waiting(100);
    const failure = new Error('down');
    await origin.fail(failure);
    expect(new Set(await calls)).toEqual(new Set([failure]));
    for (const error of await calls) expect(error).toBe(failure);
    expect(origin.starts).toBe(1);
    expect(await here.entries()).toEqual([]);
    expect(await app.cache.getOrLoad('k', () => 'well')).toBe('well');
  });

  it('fails once for the callers of three processes: they do not try one after another', async () => {
    // Three applications stand for three processes.
    const apps = await times(3, () => here.app());
    const origin = new Origin();
    const first = errorOf(apps[0]!.cache.getOrLoad('k', origin.load));
    await origin.started(1);
    const rest = times(99, (i) => errorOf(apps[i % 3]!.cache.getOrLoad('k', origin.load)));
    await Promise.all([apps[0]!.waiting(34), apps[1]!.waiting(33), apps[2]!.waiting(33)]);
    await Promise.all([apps[1]!.happened('wait.start'), apps[2]!.happened('wait.start')]);
    await origin.fail(Object.assign(new TypeError('secret detail'), { code: 'E_DOWN' }));
    const errors = [await first, ...(await rest)];
    expect(origin.starts).toBe(1);
    const remote = errors.filter((error) => error instanceof RemoteLoadError);
    expect(remote).toHaveLength(66);
    for (const error of remote) {
      expect(error).toMatchObject({ remoteName: 'TypeError', remoteCode: 'E_DOWN' });
      expect(error.message).not.toContain('secret detail');
    }
    expect(await apps[1]!.cache.getOrLoad('k', () => 'well')).toBe('well');
  });

  it('reaches those who ask for it as negative answers are asked for', async () => {
    class Gone extends Error {}
    const { cache } = await here.app();
    const policy = { negativeErrors: Gone, errors: [Gone], negativeTtl: '1m' } as const;
    const origin = new Origin();
    const first = errorOf(cache.getOrLoad('k', origin.load, policy));
    await origin.fail(new Gone('it is gone'));
    expect(await first).toBeInstanceOf(Gone);
    expect(await errorOf(cache.getOrLoad('k', origin.load, policy))).toBeInstanceOf(Gone);
    expect(origin.starts).toBe(1);
  });
});
