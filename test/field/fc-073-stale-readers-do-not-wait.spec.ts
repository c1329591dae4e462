import { Origin } from '../support/origin.js';
import { times, untilStale } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

describe('FC-073: 50 readers of a stale entry', () => {
  it('get the old value while its one refresh runs, also in the process that does not refresh', async () => {
    const policy = { ttl: 50, stale: '1m' } as const;
    // Two applications stand for two processes: they share nothing but Redis.
    const [one, two] = [await here.app(), await here.app()];
    await one.cache.getOrLoad('k', () => 'old', policy);
    await untilStale(() => one.cache.inspect('k'));
    // It ends when told to: an answer before that did not wait for it, however fast the machine.
    const origin = new Origin();
    const first = await one.cache.getOrLoadEntry('k', origin.load, policy);
    await origin.started(1);
    const rest = await times(49, (i) => (i % 2 ? one : two).cache.getOrLoadEntry('k', origin.load, policy));
    for (const answer of [first, ...rest]) expect(answer).toMatchObject({ value: 'old', outcome: 'stale' });
    expect(origin.running).toBe(1);
    expect(origin.starts).toBe(1);
    await origin.give('new');
    await one.happened('publish', 2);
    expect(await two.cache.getOrLoad('k', origin.load, policy)).toBe('new');
  });
});
