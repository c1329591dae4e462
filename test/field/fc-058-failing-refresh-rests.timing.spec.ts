import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.js';
import { untilGone, untilStale } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

/** In the field 1 s, and 10 s of 1,000 reads a second: a fifth of it here. */
const BACKOFF = 200;
const STORM = 2_000;

describe('FC-058: a refresh that fails', () => {
  it('rests in the whole fleet between tries, and begins at once again after a success', async () => {
    const policy = { ttl: 60, stale: 10_000, failureBackoff: BACKOFF };
    // Two applications stand for two processes.
    const apps = [await here.app(), await here.app()];
    const [one, two] = [apps[0]!.cache, apps[1]!.cache];
    let starts = 0;
    let ill = true;
    const load = async () => {
      starts += 1;
      if (ill) throw new Error('down');
      return `v${starts}`;
    };
    await one.getOrLoad('k', () => 'v1', policy);
    await untilStale(() => one.inspect('k'));

    let reads = 0;
    const end = performance.now() + STORM;
    while (performance.now() < end) {
      await Promise.all([one, two, one, two].map((cache) => cache.getOrLoad('k', load, policy)));
      reads += 4;
      await delay(4);
    }
    expect(reads).toBeGreaterThan(500);
    expect(starts).toBeGreaterThanOrEqual(2);
    expect(starts).toBeLessThanOrEqual(STORM / BACKOFF + 1);

    // It heals; the rest that runs ends by itself.
    ill = false;
    const healed = starts;
    await until(async () => (await one.getOrLoad('k', load, policy)) === `v${healed + 1}`);
    expect(starts).toBe(healed + 1);

    // A hard expiry and a good foreground load.
    await here.raw.unlink(await here.entry());
    await untilGone(() => one.inspect('k'));
    await one.getOrLoad('k', load, policy);
    expect(starts).toBe(healed + 2);

    // Stale again: the next read refreshes at once, in either process.
    await untilStale(() => one.inspect('k'));
    await two.getOrLoad('k', load, policy);
    await until(() => starts === healed + 3, { timeout: BACKOFF / 2, what: 'the refresh to begin at once' });
  }, 15_000);
});
