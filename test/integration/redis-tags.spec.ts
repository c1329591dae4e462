import type { Redis } from 'ioredis';
import { INVALIDATED_TAG_LIFE } from '../../lib/core/store.js';
import { freshKey, freshToken, LONG } from '../contract/subject.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { makeStore, subjectOf, type Kit } from './redis-store-kit.js';

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

const tagKey = (id: string): string => `shop:t:{${id}}`;

async function expectLife(key: string, ms: number): Promise<void> {
  const left = await admin.pttl(key);
  expect(left).toBeLessThanOrEqual(ms);
  expect(left).toBeGreaterThan(ms - 10_000);
}

describe('the key of a tag', () => {
  it('lives as long as the longest load asked for, and a shorter one does not shorten it', async () => {
    await kit.store.holdTags(['a'], 2 * LONG);
    await expectLife(tagKey('a'), 2 * LONG);
    await kit.store.holdTags(['a'], 10);
    await expectLife(tagKey('a'), 2 * LONG);
    await kit.store.holdTags(['a'], 3 * LONG);
    await expectLife(tagKey('a'), 3 * LONG);
  });

  it('lives on for ten minutes at least when it was invalidated, longer if it was to, or is held off longer', async () => {
    await kit.store.invalidateTag('new', 0);
    await expectLife(tagKey('new'), INVALIDATED_TAG_LIFE);
    await kit.store.holdTags(['short'], 50);
    await kit.store.invalidateTag('short', 1000);
    await expectLife(tagKey('short'), INVALIDATED_TAG_LIFE);
    await kit.store.holdTags(['long'], 2 * INVALIDATED_TAG_LIFE);
    await kit.store.invalidateTag('long', 0);
    await expectLife(tagKey('long'), 2 * INVALIDATED_TAG_LIFE);
    await kit.store.invalidateTag('off', 3 * INVALIDATED_TAG_LIFE);
    await expectLife(tagKey('off'), 3 * INVALIDATED_TAG_LIFE);
  });

  it('keeps its life through a soft expiry, and gets one if it had lost it', async () => {
    await kit.store.holdTags(['a'], LONG);
    await kit.store.expireTag('a');
    await expectLife(tagKey('a'), LONG);
    await admin.persist(tagKey('a'));
    await kit.store.holdTags(['a'], LONG);
    await expectLife(tagKey('a'), LONG);
    await admin.persist(tagKey('a'));
    await kit.store.invalidateTag('a', 0);
    await expectLife(tagKey('a'), INVALIDATED_TAG_LIFE);
  });

  it('that was evicted is no tag, and the next one is another', async () => {
    const [before] = await kit.store.holdTags(['a', 'b'], LONG);
    await admin.del(tagKey('a'));
    expect(await kit.store.tags(['a', 'b'])).toEqual([undefined, expect.anything()]);
    const [after] = await kit.store.holdTags(['a'], LONG);
    expect(after?.hard).not.toBe(before?.hard);
  });

  it.each(['', 'x', 'c'.repeat(62), `c${'0'.repeat(60)}`, `i${'1'.repeat(70)}`])(
    'with a value that it cannot read, %j, counts as absent',
    async (value) => {
      await admin.set(tagKey('a'), value);
      expect(await kit.store.tags(['a'])).toEqual([undefined]);
      await kit.store.expireTag('a');
      expect(await admin.get(tagKey('a'))).toBe(value);
      const [held] = await kit.store.holdTags(['a'], LONG);
      expect(await kit.store.tags(['a'])).toEqual([held]);
      await admin.set(tagKey('a'), value);
      const state = await kit.store.invalidateTag('a', 0);
      expect(await kit.store.tags(['a'])).toEqual([state]);
    },
  );

  it('is read by one GET a tag, and written by nobody who only looks', async () => {
    await kit.store.holdTags(['a', 'b', 'c'], LONG);
    const counts = await server.countCommands(() => kit.store.tags(['a', 'b', 'c', 'd']));
    expect(counts).toEqual({ get: 4 });
  });

  it('changes by time and chance: a clock set back brings no earlier part back', async () => {
    // As if an invalidation had come just before the server's clock was set back a little.
    const ahead = kit.store.now() + 900;
    const record = `i${ahead}AAAAAAAAAAA${'0'.repeat(26)}${'-'.repeat(11)}`;
    await admin.set(tagKey('a'), record, 'PX', LONG);
    const { invalidatedAt } = await kit.store.invalidateTag('a', 0);
    expect(invalidatedAt).toBe(ahead + 1);
    // Set back far, it is followed: else nothing could be stored until it has caught up.
    await admin.set(tagKey('a'), record.replace(String(ahead), String(ahead + 3_600_000)), 'PX', LONG);
    expect((await kit.store.invalidateTag('a', 0)).invalidatedAt).toBeLessThan(ahead + 60_000);
  });
});

describe('the key of epochs', () => {
  it('has no life, and holds a line for each scope', async () => {
    const epochs = [await kit.store.clear(''), await kit.store.clear('Users.find')];
    expect(await admin.pttl('shop:epochs')).toBe(-1);
    await kit.store.raiseEpochs(new Map([['Users.all', 5]]));
    expect(await admin.pttl('shop:epochs')).toBe(-1);
    const lines = String(await admin.get('shop:epochs')).split('\n');
    expect(lines.map((line) => line.replace(/ [\w-]{11} /, ' random '))).toEqual([
      `${epochs[0]} random ""`,
      `${epochs[1]} random "Users.find"`,
      '5 - "Users.all"',
      '',
    ]);
  });

  it('that the server lost is brought back by those who know', async () => {
    const known = new Map([
      ['', await kit.store.clear('')],
      ['a', await kit.store.clear('a')],
    ]);
    await admin.flushall();
    expect((await kit.store.epochs()).size).toBe(0);
    await kit.store.raiseEpochs(known);
    expect(await kit.store.epochs()).toEqual(known);
    const counts = await server.countCommands(() => kit.store.raiseEpochs(known));
    expect(counts['set']).toBeUndefined();
  });

  it('is read by one GET', async () => {
    await kit.store.clear('a');
    expect(await server.countCommands(() => kit.store.epochs())).toEqual({ get: 1 });
  });
});

describe('the key of variants', () => {
  it('lives until the last of them ends', async () => {
    await kit.store.announce('Users.find', '.1', 2 * LONG);
    await kit.store.announce('Users.find', '.2', LONG);
    await expectLife('shop:v:{Users.find}', 2 * LONG);
    await kit.store.announce('Users.find', '.2', 3 * LONG);
    await expectLife('shop:v:{Users.find}', 3 * LONG);
  });

  it('has a name that no brace can break', async () => {
    await kit.store.announce('a}b{c', '.1', LONG);
    expect(await admin.keys('shop:v:*')).toEqual(['shop:v:{a%7Db%7Bc}']);
  });
});

describe('changes', () => {
  it('work after the server forgot all scripts', async () => {
    await kit.store.holdTags(['a'], LONG);
    await admin.script('FLUSH');
    const key = freshKey();
    await Promise.all([
      kit.store.holdTags(['a', 'b'], LONG),
      kit.store.invalidateTag('a', 0),
      kit.store.expireTag('a'),
      kit.store.clear('x'),
      kit.store.raiseEpochs(new Map([['y', 5]])),
      kit.store.announce('n', '.1', LONG),
      kit.store.expire(key),
      kit.store.invalidate(key, LONG),
    ]);
    expect(await kit.store.tags(['a', 'b'])).toEqual([
      expect.objectContaining({ soft: expect.stringMatching(/./) as string }),
      expect.anything(),
    ]);
    expect([...(await kit.store.epochs()).keys()]).toEqual(['x', 'y']);
    expect(await kit.store.variants('n')).toEqual(['.1']);
    expect(await kit.store.acquire(key, { ...PROBE, token: freshToken() })).toMatchObject({
      code: 'heldOff',
    });
  });

  it.each([
    ['the channel', 'resetchannels +@all', false],
    ['PUBLISH', '&* +@all -publish', true],
  ])(
    'are done without the right to %s; those of tags reject, as nobody was told',
    async (_, rules, hears) => {
      const own = await RedisServer.start({ users: [`app on >secret ~* ${rules}`] });
      const { store } = await makeStore(`redis://app:secret@127.0.0.1:${own.port}`);
      try {
        await store.open();
        const subject = subjectOf(store);
        await subject.publish();
        const [before] = await store.holdTags(['a'], LONG);
        const untold = {
          name: 'NotAnnounced',
          message: expect.stringMatching(/shop:wake: .*\+publish and &shop:wake$/) as string,
        };
        await expect(store.invalidateTag('a', LONG)).rejects.toMatchObject(untold);
        const [state] = await store.tags(['a']);
        expect(state).toMatchObject({ soft: '', heldUntil: expect.any(Number) as number });
        expect(state?.hard).not.toBe(before?.hard);
        await expect(store.expireTag('a')).rejects.toMatchObject(untold);
        expect(await store.tags(['a'])).toEqual([
          { ...state, soft: expect.stringMatching(/./) as string, softAt: expect.any(Number) as number },
        ]);
        // There is nothing to tell of.
        await store.expireTag('absent');
        const epoch = await store.clear('x');
        expect(await store.epochs()).toEqual(new Map([['x', epoch]]));
        await store.expire(subject.key);
        expect(await subject.acquire({ mode: 'probe' })).toMatchObject({ code: 'free' });
        const token = await subject.own();
        await subject.waitFor(token);
        await store.invalidate(subject.key, LONG);
        expect(await subject.acquire()).toMatchObject({ code: 'heldOff' });
        expect(store.pushUp()).toBe(hears);
      } finally {
        await store.close();
        await own.stop();
      }
    },
  );

  it('go by the key prefix of a client handed in, and by its database', async () => {
    const client = server.client({ keyPrefix: 'tenant:', db: 3 });
    const other = await makeStore(client);
    try {
      await other.store.open();
      const signals: string[] = [];
      other.store.watch(({ kind }) => void signals.push(kind));
      await other.store.holdTags(['a'], LONG);
      const state = await other.store.invalidateTag('a', 0);
      expect(await other.store.tags(['a'])).toEqual([state]);
      await other.store.clear('x');
      await other.store.announce('n', '.1', LONG);
      expect(await other.store.variants('n')).toEqual(['.1']);
      expect((await server.client({ db: 3 }).keys('*')).sort()).toEqual([
        'tenant:shop:epochs',
        'tenant:shop:t:{a}',
        'tenant:shop:v:{n}',
      ]);
      await until(() => signals.includes('tag') && signals.includes('epoch'), { what: 'both signals' });
      await until(() => other.store.toldUntil() > -Infinity);
    } finally {
      await other.store.close();
    }
  });
});

const PROBE = {
  leaseMs: LONG,
  holder: 'test-host/1',
  mode: 'probe',
  willWait: false,
  rejectedId: '',
  hasStale: false,
  waitedOn: '',
} as const;
