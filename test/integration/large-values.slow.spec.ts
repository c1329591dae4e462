import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { RedisServer } from '../support/redis-server.js';
import { CacheClient } from './fleet/cache-client.js';

const READERS = 20;
const POLICY = { ttl: '1m', jitter: 0, earlyRefresh: 0 } as const;
/** Copies made in a row take as many times as long as there are readers. */
const MOST = 3;

/** Texts: a few thousand objects, so that collecting the garbage is not what is measured. */
const TEXT = 'She said "lorem ipsum dolor sit amet", and more. '.repeat(20);
const VALUE = Array.from({ length: 5_000 }, (_, id) => ({ id, text: `${id} ${TEXT}` }));

let server: RedisServer;
let client: CacheClient;
const namespace = 'shop';
const options = { redisTimeout: '10s', redisWriteTimeout: '10s' } as const;

beforeAll(async () => {
  server = await RedisServer.start();
  client = await CacheClient.open({ url: server.url, namespace, options });
});
afterAll(async () => {
  await client.close();
  await server.stop();
});

/** The longest the event loop stood still while `run` ran, ms. */
async function stall(run: () => Promise<unknown>): Promise<number> {
  const histogram = monitorEventLoopDelay({ resolution: 1 });
  histogram.enable();
  await delay(20);
  const before = performance.now();
  await run();
  const took = performance.now() - before;
  await delay(20);
  histogram.disable();
  expect(took).toBeGreaterThan(1);
  return histogram.max / 1e6;
}

const load = (): unknown => VALUE;
const read = (policy: object = POLICY): Promise<{ readonly value: unknown }> =>
  client.entry('k', load, { ...POLICY, ...policy });

/** What readers cost who come one after the other: the same reads, the same garbage. */
const oneByOne = (policy?: object): Promise<number> =>
  stall(async () => {
    const kept: unknown[] = [];
    for (let i = 0; i < READERS; i++) kept.push(await read(policy));
  });

const many = (policy?: object): Promise<unknown[]> =>
  Promise.all(Array.from({ length: READERS }, () => read(policy)));

/** The least of several rounds, in turns: others use this machine too. */
async function compare(
  one: () => Promise<number>,
  all: () => Promise<number>,
): Promise<{ one: number; all: number }> {
  const rounds: { one: number; all: number }[] = [];
  for (let i = 0; i < 3; i++) rounds.push({ one: await one(), all: await all() });
  return {
    one: Math.min(...rounds.map((round) => round.one)),
    all: Math.min(...rounds.map((round) => round.all)),
  };
}

it.each([
  ['as it is', {}],
  ['compressed', { compress: true }],
])('20 readers of a value of 5 MB (%s) stall the event loop no longer than one', async (_, policy) => {
  await client.invalidate('k');
  await read(policy);
  const stalls = await compare(
    () => oneByOne(policy),
    () => stall(() => many(policy)),
  );
  expect(stalls.all).toBeLessThan(MOST * stalls.one);
});

it('nor do 20 who wait for its load', async () => {
  const load = async (run: () => Promise<unknown>): Promise<number> => {
    await client.invalidate('k');
    return stall(run);
  };
  // The value is encoded in one go before the first copy is made.
  const stalls = await compare(
    () => load(read),
    () => load(many),
  );
  expect(stalls.all).toBeLessThan(MOST * stalls.one);
});

it('a shared value is read once for all', async () => {
  await client.invalidate('k');
  await read();
  const shared = { shared: true };
  const stalls = await compare(
    () => stall(() => read(shared)),
    () => stall(() => many(shared)),
  );
  expect(stalls.all).toBeLessThan(MOST * stalls.one);
  const [first, ...others] = (await many(shared)) as { value: unknown }[];
  for (const other of others) expect(other.value).toBe(first?.value);
});
