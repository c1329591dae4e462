import { KeyTracking } from '../../../lib/redis/key-tracking.js';
import { deferred } from '../../../lib/core/deferred.js';
import type { SingleLike } from '../../../lib/redis/redis-like.js';
import { createFakeRuntime, type FakeRuntime } from '../../support/fake-runtime.js';

const PROBE = 'app:shop:d:{~probe}';

describe('key tracking', () => {
  let fake: FakeRuntime;
  let tracking: KeyTracking;
  let sent: unknown[][];
  let heard: string[];
  let onWrite: () => Promise<unknown>;
  let refused: Error | undefined;

  const connection = {
    call: (...args: string[]) => {
      sent.push(args);
      return refused ? Promise.reject(refused) : Promise.resolve(7);
    },
    subscribe: (channel: string) => {
      sent.push(['SUBSCRIBE', channel]);
      return Promise.resolve(1);
    },
  } as unknown as SingleLike;

  beforeEach(() => {
    [fake, sent, heard, refused] = [createFakeRuntime(), [], [], undefined];
    onWrite = () => Promise.resolve('OK');
    const client = {
      set: (...args: unknown[]) => {
        sent.push(['SET', ...args]);
        return onWrite();
      },
    } as unknown as SingleLike;
    tracking = new KeyTracking({
      client,
      keyPrefix: 'app:',
      prefix: 'shop:d:',
      runtime: fake.runtime,
      onChange: (place) => void heard.push(place),
      onFlush: () => void heard.push('flush'),
    });
  });
  afterEach(() => {
    tracking.cancel();
    const { foreground, background } = fake.pending();
    if (foreground + background > 0) throw new Error('a timer was left armed');
  });

  const warnings = (): string[] => fake.logs.map(({ message }) => message);

  it('redirects the invalidations of the namespace to its own connection', async () => {
    await tracking.arm(connection);
    expect(sent).toEqual([
      ['CLIENT', 'ID'],
      ['CLIENT', 'TRACKING', 'ON', 'REDIRECT', '7', 'BCAST', 'PREFIX', 'app:shop:d:'],
      ['SUBSCRIBE', '__redis__:invalidate'],
    ]);
  });

  it.each([
    ['app:shop:d:{Shop.find:42}', 'Shop.find:42'],
    ['app:shop:d:{:k}.v2', ':k .v2'],
    ['app:shop:l:{:k}', undefined],
    ['shop:d:{:k}', undefined],
    ['app:shop:d::k', undefined],
    ['app:shop:d:{:k', undefined],
  ])('takes %s for the entry %s', (key, place) => {
    tracking.receive([Buffer.from(key)]);
    expect(heard).toEqual(place === undefined ? [] : [place]);
  });

  it('hears of several keys at once, and of a flush', () => {
    tracking.receive([Buffer.from('app:shop:d:{:a}'), Buffer.from('app:shop:d:{:b}')]);
    tracking.receive(null);
    expect(heard).toEqual([':a', ':b', 'flush']);
  });

  it.each([['text'], [7], [undefined]])('heeds nothing in %p', (payload) => {
    tracking.receive(payload);
    expect(heard).toEqual([]);
  });

  it('is content when it hears of the key that it wrote', async () => {
    await tracking.arm(connection);
    tracking.prove();
    expect(sent.at(-1)).toEqual(['SET', 'shop:d:{~probe}', Buffer.alloc(0), 'PX', 500]);
    tracking.receive([Buffer.from(PROBE)]);
    await fake.advance(1_000);
    expect(heard).toEqual([]);
    expect(warnings()).toEqual([]);
  });

  it('says once that nothing is heard', async () => {
    for (let life = 0; life < 2; life++) {
      await tracking.arm(connection);
      tracking.prove();
      await fake.advance(501);
    }
    expect(warnings()).toEqual([
      expect.stringContaining("coherence.mode 'tracking': nothing was heard of a change for 500 ms."),
    ]);
  });

  it('proves nothing by a key that could not be written', async () => {
    onWrite = () => Promise.reject(new Error('READONLY'));
    await tracking.arm(connection);
    tracking.prove();
    await fake.advance(1_000);
    expect(warnings()).toEqual([]);
  });

  it('waits for word from the moment the key is written', async () => {
    const written = deferred<unknown>();
    onWrite = () => written.promise;
    await tracking.arm(connection);
    tracking.prove();
    await fake.advance(2_000);
    expect(warnings()).toEqual([]);
    written.resolve('OK');
    await fake.advance(501);
    expect(warnings()).toEqual([expect.stringContaining('nothing was heard')]);
  });

  it('is not misled by a key of an earlier connection that could not be written', async () => {
    const first = deferred<unknown>();
    onWrite = () => first.promise;
    await tracking.arm(connection);
    tracking.prove();
    onWrite = () => Promise.resolve('OK');
    tracking.prove();
    first.reject(new Error('Connection is closed.'));
    await fake.advance(501);
    expect(warnings()).toEqual([expect.stringContaining('nothing was heard')]);
  });

  it('takes a connection that breaks for no refusal', async () => {
    refused = new Error('Connection is closed.');
    await expect(tracking.arm(connection)).rejects.toBe(refused);
    expect(warnings()).toEqual([]);
  });

  it('says why the server refuses it, and proves nothing then', async () => {
    refused = new Error('NOPERM no permission');
    await tracking.arm(connection);
    tracking.prove();
    await fake.advance(1_000);
    expect(sent.some(([command]) => command === 'SET')).toBe(false);
    expect(warnings()).toEqual([expect.stringContaining('refuses it (NOPERM no permission)')]);
  });
});
