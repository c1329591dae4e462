import { deferred } from '../../support/deferred.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { Origin } from '../../support/origin.js';
import { RedisServer } from '../../support/redis-server.js';
import { until } from '../../support/until.js';
import { CacheClient } from './cache-client.js';

const POLICY = { ttl: '1m', jitter: 0, earlyRefresh: 0 } as const;
const OPTIONS = { redisTimeout: '2s', redisWriteTimeout: '5s' } as const;

let redis: RedisServer;
const open: CacheClient[] = [];

beforeAll(async () => {
  redis = await RedisServer.start();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});
afterAll(() => redis.stop());

async function client(wrap?: Parameters<typeof CacheClient.open>[1]): Promise<CacheClient> {
  const opened = await CacheClient.open({ url: redis.url, namespace: 'shop', options: OPTIONS }, wrap);
  opened.record();
  open.push(opened);
  return opened;
}

const names = (one: CacheClient, key: string) => ({
  data: `shop:d:{${one.idOf(key)}}`,
  lease: `shop:l:{${one.idOf(key)}}`,
});

/** Holds `acquire` back until told. */
class SlowAcquire extends ForwardingStore {
  readonly asked = deferred<void>();
  readonly go = deferred<void>();

  override async acquire(
    ...args: Parameters<ForwardingStore['acquire']>
  ): ReturnType<ForwardingStore['acquire']> {
    this.asked.resolve();
    await this.go.promise;
    return super.acquire(...args);
  }
}

describe('A fill between a read that missed and the request for the lease', () => {
  it('is what the caller gets; nothing is loaded a second time', async () => {
    const slow: SlowAcquire[] = [];
    const late = await client((store) => {
      const wrapped = new SlowAcquire(store);
      slow.push(wrapped);
      return wrapped;
    });
    const other = await client();
    const origin = new Origin();
    const mine = late.entry('filled', origin.load, POLICY);
    await slow[0]?.asked.promise;
    const filled = other.entry('filled', origin.load, POLICY);
    await origin.give('the fill');
    expect((await filled).outcome).toBe('loaded');
    await until(async () => (await redis.client().exists(names(late, 'filled').data)) === 1);
    slow[0]?.go.resolve();
    expect(await mine).toMatchObject({ value: 'the fill', outcome: 'waited' });
    expect(origin.starts).toBe(1);
    expect(await redis.client().exists(names(late, 'filled').lease)).toBe(0);
  });
});

describe('A wrong token', () => {
  it('neither publishes, renews, releases nor deletes', async () => {
    const holder = await client();
    const stranger = await client();
    const origin = new Origin();
    const mine = holder.entry('guarded', origin.load, POLICY);
    await origin.started(1);
    const raw = redis.client();
    const { data, lease } = names(holder, 'guarded');
    const before = await raw.get(lease);
    const key = { id: holder.idOf('guarded') } as Parameters<typeof stranger.store.commit>[0]; // all that Redis keys need
    const token = 'AAAAAAAAAAAAAAAAAAAAAA';
    const bytes = Buffer.from('a value that must not be seen');
    expect(await stranger.store.commit(key, { token, bytes, hardMs: 60_000, rejectedId: '' })).toBe('fenced');
    expect(await stranger.store.renew(key, token, 60_000)).toEqual({ held: false, contended: false });
    expect(await stranger.store.release(key, { token, outcome: 'x' })).toBe(false);
    expect(await raw.get(lease)).toBe(before);
    expect(await raw.exists(data)).toBe(0);

    await origin.give('mine');
    expect((await mine).value).toBe('mine');
    const published = await raw.getBuffer(data);
    expect(await stranger.store.release(key, { token, outcome: '' })).toBe(false);
    expect(await stranger.store.commit(key, { token, bytes, hardMs: 60_000, rejectedId: '' })).toBe('fenced');
    expect(await raw.getBuffer(data)).toEqual(published);
    expect(await raw.keys('shop:s:*')).toEqual([]);
  });
});

describe('A lease that is evicted in mid-load', () => {
  it('lets those who came before have the value, which is not stored; late joiners share one more load', async () => {
    const process = await client();
    const origin = new Origin();
    const raw = redis.client();
    const { data, lease } = names(process, 'evicted');
    const early = Array.from({ length: 20 }, () => process.entry('evicted', origin.load, POLICY));
    await origin.started(1);
    expect(await raw.del(lease)).toBe(1);
    const late = Array.from({ length: 20 }, () => process.entry('evicted', origin.load, POLICY));
    await origin.give('old');
    for (const { value } of await Promise.all(early)) expect(value).toBe('old');
    await origin.started(2);
    expect(await raw.exists(data)).toBe(0);
    expect(process.stats().publishes).toMatchObject({ stored: 0, fenced: 1 });
    await origin.give('new');
    for (const { value } of await Promise.all(late)) expect(value).toBe('new');
    expect(origin.starts).toBe(2);
    expect((await process.entry('evicted', origin.load, POLICY)).value).toBe('new');
  });
});
