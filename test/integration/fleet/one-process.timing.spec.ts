import { setTimeout as delay } from 'node:timers/promises';
import type { AnyPolicy } from '../../../lib/core/policy/index.js';
import { deferred } from '../../support/deferred.js';
import { RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';
import { CacheClient } from './cache-client.js';
import { measured } from './fleet.js';

const POLICY: AnyPolicy = { ttl: '1m', jitter: 0, earlyRefresh: 0 };

let redis: RedisServer;
let client: CacheClient;

beforeAll(async () => {
  redis = await RedisServer.start();
  client = await CacheClient.open({
    url: redis.url,
    namespace: 'shop',
    options: { redisTimeout: '2s', redisWriteTimeout: '5s', loads: { concurrency: 200 } },
  });
});
afterAll(async () => {
  await client.close();
  await redis.stop();
});

describe('200 cold keys', () => {
  const keys = (name: string) => Array.from({ length: 200 }, (_, index) => `${name}-${index}`);
  const LOAD_MS = 300;
  /** One after another they would take a minute, ten at a time six seconds; the rest is a busy machine's. */
  const LIMIT = 8 * LOAD_MS;

  async function loadAll(name: string): Promise<number> {
    const started = performance.now();
    const load = () => delay(LOAD_MS, name);
    await Promise.all(keys(name).map((key) => client.entry(key, load, POLICY)));
    return performance.now() - started;
  }

  it('load side by side: all in the time of one, give or take the machine', async () => {
    await loadAll('warm-up');
    const took = await loadAll('side-by-side');
    measured('200 loads of 300 ms at once', { took });
    expect(took).toBeLessThan(LIMIT);
  }, 20_000);

  it('are not delayed by one that is slow', async () => {
    const slow = deferred<string>();
    const pending = client.entry('slow', () => slow.promise, POLICY);
    const took = await loadAll('beside-a-slow-one');
    slow.resolve('at last');
    expect((await pending).value).toBe('at last');
    expect(took).toBeLessThan(LIMIT);
  }, 20_000);
});

describe('A loader that ignores its signal and settles after loadTimeout', () => {
  it.each(['resolves', 'rejects'])('leaves nothing behind when it %s late', async (how) => {
    const key = `deaf-${how}`;
    const load = deferred<string>();
    let signal: AbortSignal | undefined;
    const policy: AnyPolicy = { ...POLICY, loadTimeout: 100 };
    const wrote = jest.spyOn(client.store, 'commit');
    const calls = Array.from({ length: 10 }, () =>
      client.entry(
        key,
        (context) => {
          signal = context.signal;
          return load.promise;
        },
        policy,
      ),
    );
    const ends = await Promise.allSettled(calls);
    expect(
      ends.map((end) => (end.status === 'rejected' ? (end.reason as { code?: string }).code : '')),
    ).toEqual(Array(10).fill('LOAD_TIMEOUT'));
    expect(signal?.aborted).toBe(true);
    const raw = redis.client();
    const id = client.idOf(key);
    await until(async () => (await raw.exists(`shop:l:{${id}}`)) === 0, { what: 'the lease to be released' });
    if (how === 'resolves') load.resolve('too late');
    else load.reject(new Error('too late'));
    // More turns than a late publication needs, or an unhandled rejection, on which Jest fails the test.
    await delay(20);
    expect(client.stats().active).toEqual({
      flights: 0,
      refreshes: 0,
      unsettled: 0,
      slots: 0,
      queued: 0,
      callers: 0,
    });
    expect(wrote).not.toHaveBeenCalled();
    wrote.mockRestore();
    expect(await raw.exists(`shop:d:{${id}}`)).toBe(0);
    // The key is usable again at once.
    expect((await client.entry(key, () => 'in time', policy)).value).toBe('in time');
  });
});

describe('Commands sent by one process', () => {
  /** What the clients sent, without what ran inside scripts. */
  async function commandsOf(run: () => Promise<unknown>): Promise<string[]> {
    const monitor = await redis.client().monitor();
    const sent: string[] = [];
    monitor.on('monitor', (_time: unknown, [command = '', key = '']: string[], source: string) => {
      if (source !== 'lua') sent.push(nameOf(command.toLowerCase(), key));
    });
    const raw = redis.client();
    await raw.echo('begin');
    await run();
    await raw.echo('end');
    await until(() => sent.includes('echo') && sent.lastIndexOf('echo') > sent.indexOf('echo'));
    monitor.disconnect();
    raw.disconnect();
    return sent.slice(sent.indexOf('echo') + 1, sent.lastIndexOf('echo'));
  }

  const load = () => ({ name: 'boots' });
  const isEpochs = (command: string) => command === 'epochs';
  const others = (commands: readonly string[]) => commands.filter((one) => !isEpochs(one));

  it('are GET, acquire, SET and commit for a cold key that nobody else wants', async () => {
    const sent = await commandsOf(() => client.entry('cold', load, POLICY));
    expect(others(sent)).toEqual(['get', 'eval', 'set', 'eval']);
    // What was cleared is asked for along with the lease, and with a read once in a while.
    expect(sent.filter(isEpochs).length).toBeGreaterThanOrEqual(1);
    expect(sent.filter(isEpochs).length).toBeLessThanOrEqual(2);
  });

  it('include no PUBLISH, within scripts neither', async () => {
    const counts = await redis.countCommands(() => client.entry('silent', load, POLICY));
    expect(counts).not.toHaveProperty('publish');
    expect(counts['set']).toBeGreaterThan(0);
  });

  it('are one GET for a hit, for a hundred hits of one tick too', async () => {
    await client.entry('hot', load, POLICY);
    expect(others(await commandsOf(() => client.entry('hot', load, POLICY)))).toEqual(['get']);
    const many = () => Promise.all(Array.from({ length: 100 }, () => client.entry('hot', load, POLICY)));
    const sent = await commandsOf(many);
    expect(others(sent)).toEqual(['get']);
    expect(sent.length).toBeLessThanOrEqual(2);
  });

  it('are one script for an invalidation, and a look at the versions there are', async () => {
    await client.entry('doomed', load, POLICY);
    const sent = await commandsOf(() => client.invalidate('doomed'));
    expect([...sent].sort()).toEqual(['eval', 'versions']);
  });
});

/** A command by what it is about, where that is no entry. */
function nameOf(command: string, key: string): string {
  if (key.endsWith(':epochs')) return 'epochs';
  if (key.includes(':v:{')) return 'versions';
  return command.replace('evalsha', 'eval');
}
