import type { Redis } from 'ioredis';
import type { Signal } from '../../lib/core/store.js';
import { LONG } from '../contract/subject.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { makeStore, type Kit } from './redis-store-kit.js';

const TAG = 'shop:t:{a}';
const EPOCHS = 'shop:epochs';
const VARIANTS = 'shop:v:{n}';
const DAY = 86_400_000;

let server: RedisServer;
let admin: Redis;
let kit: Kit;

beforeAll(async () => {
  server = await RedisServer.start();
  admin = server.client();
});
afterAll(() => server.stop());
beforeEach(async () => {
  await admin.flushall();
  kit = await makeStore(server.url);
  await kit.store.open();
});
afterEach(() => kit.store.close());

async function isShortLived(key: string): Promise<boolean> {
  const left = await admin.pttl(key);
  return left > 0 && left < DAY;
}

function record(at: number, heldUntil = 0, softAt = 0): string {
  const digits = (ms: number): string => String(ms).padStart(13, '0');
  return `i${digits(at)}AAAAAAAAAAA${digits(heldUntil)}${digits(softAt)}BBBBBBBBBBB`;
}

describe('foreign bytes in the key of a tag', () => {
  const NOW = Date.now();
  const spoilt = (at: number, by = '!'): string => record(NOW).slice(0, at) + by + record(NOW).slice(at + 1);

  it.each([
    ['after the kind and the time', `c${NOW}`.padEnd(62, '!')],
    ['in the random part', spoilt(20)],
    ['in the hold-off', spoilt(30, 'x')],
    ['in the soft expiry', spoilt(45, ' ')],
    ['in its random part', spoilt(61, '\n')],
    ['a time far ahead', record(NOW + 2 * DAY)],
    ['a soft expiry far ahead', record(NOW, 0, NOW + 2 * DAY)],
    ['a hold-off beyond all', record(NOW, 9_999_999_999_999)],
  ])('count as no tag, and are replaced: %s', async (_, value) => {
    const { store } = kit;
    await admin.set(TAG, value);
    expect(await store.tags(['a'])).toEqual([undefined]);
    await store.expireTag('a');
    const [held] = await store.holdTags(['a'], LONG);
    expect(held).toMatchObject({ softAt: 0, invalidatedAt: 0, heldUntil: 0 });
    expect(await store.tags(['a'])).toEqual([held]);
    expect(await isShortLived(TAG)).toBe(true);

    await admin.set(TAG, value, 'PX', 1000 * DAY);
    const state = await store.invalidateTag('a', 0);
    expect(state.heldUntil).toBe(0);
    expect(await store.tags(['a'])).toEqual([state]);
    // Nor is the life of what was there taken over.
    expect(await isShortLived(TAG)).toBe(true);
  });

  it('a hold-off of any length has an end that fits', async () => {
    const { heldUntil } = await kit.store.invalidateTag('a', Number.MAX_SAFE_INTEGER);
    expect(heldUntil).toBeGreaterThan(Date.now() + 99 * 365 * DAY);
    expect(await kit.store.holdTags(['a'], LONG)).toEqual([expect.objectContaining({ heldUntil })]);
  });
});

describe('foreign bytes in the key of epochs', () => {
  const ABSURD = ['99999999999999999', '9'.repeat(30), '9'.repeat(400), String(Date.now() + 2 * DAY)];

  it.each(ABSURD)('the epoch %s counts for nothing, and costs one script once', async (epoch) => {
    const { store } = kit;
    const own = await store.clear('kept');
    await admin.append(EPOCHS, `${epoch} x ""\n`);
    expect(await store.epochs()).toEqual(new Map([['kept', own]]));
    expect(await server.countCommands(() => store.epochs())).toEqual({ get: 1 });
    expect(await admin.get(EPOCHS)).not.toContain(epoch);
  });

  it.each(ABSURD)('the epoch %s keeps no clear from clearing', async (epoch) => {
    await admin.set(EPOCHS, `${epoch} x ""\n${epoch} y "a"\n`);
    const cleared = await kit.store.clear('');
    expect(cleared).toBeLessThan(Date.now() + DAY);
    expect(await kit.store.epochs()).toEqual(new Map([['', cleared]]));
    await admin.append(EPOCHS, `${epoch} x "b"\n`);
    await kit.store.raiseEpochs(new Map([['c', 5]]));
    const after = [
      ['', cleared],
      ['c', 5],
    ] as const;
    expect(await kit.store.epochs()).toEqual(new Map(after));
  });

  it('an absurd one alone leaves no key behind', async () => {
    await admin.set(EPOCHS, `${'9'.repeat(30)} x ""\n`);
    expect((await kit.store.epochs()).size).toBe(0);
    expect(await admin.exists(EPOCHS)).toBe(0);
  });

  it('an epoch that only a wrong idea of the time takes for absurd counts', async () => {
    // Not opened, so it has not heard the server's time yet: as after the server's clock was set ahead.
    const late = await makeStore(admin, { epochGuess: Date.now() - 10 * 365 * DAY });
    const epoch = await kit.store.clear('');
    expect(await late.store.epochs()).toEqual(new Map([['', epoch]]));
    await late.store.close();
  });

  it('garbage is passed over, and gone with the next clear', async () => {
    await admin.set(EPOCHS, Buffer.from([0, 255, 10, 32, 32, 10, 49, 32, 50, 32, 51]));
    await admin.append(EPOCHS, '\n12 x y\n 5 r "z"\nxx 7 r "w"\n');
    expect((await kit.store.epochs()).size).toBe(0);
    const epoch = await kit.store.clear('a');
    expect(await admin.get(EPOCHS)).toMatch(new RegExp(`^${epoch} \\S{11} "a"\n$`));
  });

  it('a great many bytes hold no server up', async () => {
    await admin.set(EPOCHS, '1'.repeat(500_000));
    await admin.set(VARIANTS, '1'.repeat(500_000));
    const start = performance.now();
    await kit.store.clear('a');
    await kit.store.announce('n', '.1', LONG);
    expect(performance.now() - start).toBeLessThan(1000);
  });

  it.each(ABSURD)('an announcement of the epoch %s is not heeded', async (epoch) => {
    const signals: Signal[] = [];
    await until(() => kit.store.pushUp(), { what: 'the subscription' });
    kit.store.watch((signal) => void signals.push(signal));
    await admin.publish('shop:wake', `c  2 ""${epoch}`);
    const cleared = await kit.store.clear('a');
    await until(() => signals.length > 0, { what: 'a signal' });
    expect(signals).toEqual([{ kind: 'epoch', scope: 'a', epoch: cleared }]);
  });
});

describe('foreign bytes in the list of variants', () => {
  it.each([
    ['an absurd end', `${'9'.repeat(30)} .x\n`],
    ['an end beyond all lives', `${Date.now() + 300 * 365 * DAY} .x\n`],
    ['an infinite end', `${'9'.repeat(400)} .x\n`],
    ['an absurd end of its own', `${'9'.repeat(30)} .1\n`],
    ['no lines', Buffer.from([0, 255, 128, 10, 32, 10])],
    ['a space in a variant', '9999999999999 .x y\n'],
  ])('keep no build from announcing itself: %s', async (_, value) => {
    await admin.set(VARIANTS, value);
    await kit.store.announce('n', '.1', LONG);
    expect(await kit.store.variants('n')).toEqual(['.1']);
    expect(await isShortLived(VARIANTS)).toBe(true);
  });
});

describe.each([
  ['a hash', (key: string) => admin.hset(key, 'a', 'b')],
  ['a list', (key: string) => admin.rpush(key, 'a')],
])('%s in the place of a key', (_, put) => {
  it('of a tag counts as absent, and is replaced', async () => {
    const { store } = kit;
    await put(TAG);
    expect(await store.tags(['a'])).toEqual([undefined]);
    await store.expireTag('a');
    const held = await store.holdTags(['a'], LONG);
    expect(await store.tags(['a'])).toEqual(held);
    await admin.del(TAG);
    await put(TAG);
    const state = await store.invalidateTag('a', 0);
    expect(await store.tags(['a'])).toEqual([state]);
  });

  it('of epochs counts as never cleared, and is replaced', async () => {
    const { store } = kit;
    await put(EPOCHS);
    expect((await store.epochs()).size).toBe(0);
    const epoch = await store.clear('a');
    expect(await store.epochs()).toEqual(new Map([['a', epoch]]));
    await admin.del(EPOCHS);
    await put(EPOCHS);
    await store.raiseEpochs(new Map([['b', 5]]));
    expect(await store.epochs()).toEqual(new Map([['b', 5]]));
  });

  it('of variants counts as an empty list, and is replaced', async () => {
    const { store } = kit;
    await put(VARIANTS);
    expect(await store.variants('n')).toEqual([]);
    await store.announce('n', '.1', LONG);
    expect(await store.variants('n')).toEqual(['.1']);
  });
});

it('a key that may not be read is no absent key: nothing is replaced', async () => {
  const own = await RedisServer.start({ users: ['app on >secret ~* &* +@all -get'] });
  const { store } = await makeStore(`redis://app:secret@127.0.0.1:${own.port}`);
  try {
    await own.client().set(TAG, record(Date.now()));
    await store.open();
    await expect(store.holdTags(['a'], LONG)).rejects.toThrow(/permission|can't run/i);
    await expect(store.tags(['a'])).rejects.toThrow(/NOPERM/);
    expect(await own.client().get(TAG)).toMatch(/^i/);
  } finally {
    await store.close();
    await own.stop();
  }
});
