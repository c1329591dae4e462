import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { AnyPolicy } from '../../lib/core/policy/index.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { CacheClient } from './fleet/cache-client.js';

const MB = 1_024 * 1_024;
const TOKEN = 'A'.repeat(22);
const POLICY = { ttl: '1m', jitter: 0, earlyRefresh: 0 } as const;
/** What lies there may be taken for a lease, for as long. */
const BRIEF = { ...POLICY, lease: '200ms' } as const;
const TAGGED = { ...POLICY, tags: ['t'] } as const;
const TAG = 'shop:t:{t}';
const EPOCHS = 'shop:epochs';
const CHANNEL = 'shop:wake';

type Put = (raw: Redis, key: string) => Promise<unknown>;
type Kind = [what: string, put: Put];

/** What may lie where the cache looks for a string. */
const OTHER_TYPES: Kind[] = [
  ['a list', (raw, key) => raw.rpush(key, 'a', 'b')],
  ['a hash', (raw, key) => raw.hset(key, 'a', 'b')],
  ['a set', (raw, key) => raw.sadd(key, 'a')],
  ['a sorted set', (raw, key) => raw.zadd(key, 1, 'a')],
  ['a stream', (raw, key) => raw.xadd(key, '*', 'a', 'b')],
];
const STRINGS: Kind[] = [
  ['nothing', (raw, key) => raw.set(key, '')],
  ['1 MB of noise', (raw, key) => raw.set(key, randomBytes(MB))],
  ['1 MB of digits', (raw, key) => raw.set(key, '9'.repeat(MB))],
  ['1 MB of lines', (raw, key) => raw.set(key, '1 x ""\n'.repeat(MB / 7))],
  ['1 MB of other lines', (raw, key) => raw.set(key, '99999999999999 .v\n'.repeat(MB / 18))],
];
const LEASES: Kind[] = [
  ['1 MB that begins like a lease', (raw, key) => raw.set(key, `L${TOKEN}-000${'1'.repeat(MB)}`)],
  ['1 MB that begins like an ended load', (raw, key) => raw.set(key, `E${TOKEN}-000${'1'.repeat(MB)}`)],
  [
    'a failure in the year 2286',
    (raw, key) => raw.set(key, `E${TOKEN}-999${'9'.repeat(13)}${'9'.repeat(13)}`),
  ],
  ['a hold-off that is over', (raw, key) => raw.set(key, 'H0000000000001')],
];

let server: RedisServer;
let raw: Redis;
let one: CacheClient;
let two: CacheClient;

beforeAll(async () => {
  server = await RedisServer.start();
  raw = server.client();
});
afterAll(() => server.stop());
beforeEach(async () => {
  await raw.flushall();
  const setup = {
    url: server.url,
    namespace: 'shop',
    options: { redisTimeout: '10s', redisWriteTimeout: '10s' },
  } as const;
  [one, two] = await Promise.all([CacheClient.open(setup), CacheClient.open(setup)]);
});
afterEach(() => Promise.all([one.close(), two.close()]));

const dataKey = (key: string): string => `shop:d:{${one.idOf(key)}}`;
const leaseKey = (key: string): string => `shop:l:{${one.idOf(key)}}`;

/** Two processes ask at once: one load, both have its value, and the next ones a hit. */
async function expectOneLoad(key: string, policy: AnyPolicy = POLICY): Promise<void> {
  let loads = 0;
  const load = (): string => ((loads += 1), 'loaded');
  const both = () => Promise.all([one, two].map((each) => each.entry(key, load, policy)));
  expect((await both()).map(({ value }) => value)).toEqual(['loaded', 'loaded']);
  expect((await both()).map(({ outcome }) => outcome)).toEqual(['fresh', 'fresh']);
  expect(loads).toBe(1);
}

describe.each(OTHER_TYPES)('%s in the place of an entry', (_, put) => {
  it('is a miss, and replaced; every change succeeds', async () => {
    await put(raw, dataKey('k'));
    expect(await one.inspect('k')).toBeNull();
    await expectOneLoad('k');
    await put(raw, dataKey('set'));
    await one.set('set', 'own', POLICY);
    expect((await two.entry('set', () => 'loaded', POLICY)).value).toBe('own');
    await put(raw, dataKey('dropped'));
    await one.invalidate('dropped');
    expect(await raw.exists(dataKey('dropped'))).toBe(0);
    expect(one.warnings).toEqual([]);
  });
});

describe.each([...OTHER_TYPES, ...STRINGS, ...LEASES])('%s in the place of a lease', (_, put) => {
  it('holds up no load and no change', async () => {
    await put(raw, leaseKey('k'));
    await one.inspect('k');
    await expectOneLoad('k', BRIEF);
    await put(raw, leaseKey('k'));
    await one.set('k', 'own', POLICY);
    expect((await two.entry('k', () => 'loaded', POLICY)).value).toBe('own');
    await put(raw, leaseKey('k'));
    await one.invalidate('k');
    await expectOneLoad('k', BRIEF);
    expect(one.warnings).toEqual([]);
  });
});

describe.each([...OTHER_TYPES, ...STRINGS])('%s', (_, put) => {
  it('in the place of a tag: its entries are misses once, and it is replaced', async () => {
    await one.entry('k', () => 'old', TAGGED);
    await raw.del(TAG);
    await put(raw, TAG);
    await expectOneLoad('k', TAGGED);
    await raw.del(TAG);
    await put(raw, TAG);
    await one.cache.changes.invalidateTags(['t']);
    await expectOneLoad('k', TAGGED);
  });

  it('in the place of the epochs: nothing is held up, and clear still clears', async () => {
    await one.entry('k', () => 'old', POLICY);
    await raw.del(EPOCHS);
    await put(raw, EPOCHS);
    expect((await one.entry('k', () => 'new', POLICY)).value).toBe('old');
    await one.cache.changes.clear();
    expect((await one.entry('k', () => 'new', POLICY)).value).toBe('new');
    expect(await raw.strlen(EPOCHS)).toBeLessThan(MB + 100);
  });

  it('in the place of the list of versions: changes reach the entry', async () => {
    await one.entry('k', () => 'old', POLICY);
    await put(raw, 'shop:v:{Shop.find}');
    await one.invalidate('k');
    await expectOneLoad('k');
  });
});

describe('whatever is published on the channel', () => {
  const id = () => one.idOf('k');
  const about = (letter: string, subject: string, rest = '', token = '') =>
    `${letter} ${token} ${subject.length} ${subject}${rest}`;

  it('changes no value, ends no load, and is survived', async () => {
    await one.entry('tagged', () => 'own', TAGGED);
    let finish: (value: string) => void = () => undefined;
    const leader = one.entry('k', () => new Promise<string>((resolve) => (finish = resolve)), POLICY);
    await until(async () => (await raw.exists(leaseKey('k'))) === 1, { what: 'the lease' });
    two.record();
    const waiter = two.entry('k', () => 'not needed', POLICY);
    await until(() => two.events.some(({ type }) => type === 'wait.start'), { what: 'the wait' });

    const now = Date.now();
    const hostile: (string | Buffer)[] = [
      ...[
        '',
        ' ',
        '\n',
        'x'.repeat(MB),
        randomBytes(1_000),
        `e  ${'9'.repeat(400)} x`,
        'p  -1 k',
        'p  1e9 k',
      ],
      about('p', id()),
      about('i', id()),
      about('e', id(), 'garbage', TOKEN),
      about('e', id(), `ej{"as":"class","name":"__proto__","message":"","own":{"__proto__":1}}`, TOKEN),
      about('e', id(), `e${'['.repeat(100_000)}`, TOKEN),
      about('t', 't', 'garbage'),
      about('t', '__proto__', `i${now}AAAAAAAAAAA${'0'.repeat(26)}-----------`),
      about('t', 't', `i${'9'.repeat(13)}AAAAAAAAAAA${'9'.repeat(26)}BBBBBBBBBBB`),
      about('c', '"__proto__"', '5'),
      about('c', '{"a":1}', '5'),
      about('c', '""', '9'.repeat(300)),
      about('c', '""', '-1'),
    ];
    for (const message of hostile) await raw.publish(CHANNEL, message as string); // ioredis takes Buffers as well
    // Everything published has arrived by the time this change is known.
    await one.cache.changes.clear('another');
    await until(() => two.store.toldUntil() > -Infinity, { what: 'the heartbeat' });
    finish('loaded');
    expect((await leader).value).toBe('loaded');
    expect((await waiter).value).toBe('loaded');
    expect((await two.entry('k', () => 'again', POLICY)).outcome).toBe('fresh');
    // A tag that is said to have changed is asked for; Redis decides.
    expect((await two.entry('tagged', () => 'again', TAGGED)).value).toBe('own');
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('is forgotten, where nobody here asked for it', async () => {
    const client = two;
    await client.entry('tagged', () => 'own', TAGGED);
    const record = `i${Date.now()}AAAAAAAAAAA${'0'.repeat(26)}-----------`;
    const names = Array.from({ length: 2_000 }, (_, i) => `name-${i}-${'x'.repeat(80)}`);
    for (let from = 0; from < names.length; from += 1_000) {
      const pipeline = raw.pipeline();
      for (const name of names.slice(from, from + 1_000)) {
        pipeline.publish(CHANNEL, about('t', name, record));
        pipeline.publish(CHANNEL, about('p', name));
      }
      await pipeline.exec();
    }
    // Nothing is remembered of what nobody here asked for.
    const { engine } = client.cache as unknown as { engine: { tags: { states: Map<string, unknown> } } }; // a look inside
    expect(engine.tags.states.size).toBeLessThanOrEqual(1);
    expect((await client.entry('tagged', () => 'again', TAGGED)).value).toBe('own');
  });
});
