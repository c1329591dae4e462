import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import type { App } from './support/app.js';
import { errorOf } from './support/conditions.js';
import { field, NAMESPACE } from './support/field.js';

const here = field();

const MAX_LAG = 400;
const POLICY = { ttl: '1h', tags: ['t'] } as const;

type Change = readonly [what: string, change: (app: App) => Promise<void>];

const CHANGES: readonly Change[] = [
  ['invalidateTags', ({ cache }) => cache.invalidateTags('t')],
  ['expireTags', ({ cache }) => cache.expireTags('t')],
  ['clear', ({ cache }) => cache.clear()],
];

/** Ways in which a process does not hear what others change. Each returns where that process finds Redis. */
const DEAFNESS = {
  'may not use the channel': async () => {
    const rules = `on >secret ~${NAMESPACE}:* resetchannels +@all`;
    await here.raw.call('ACL', 'SETUSER', 'deaf', ...rules.split(' '));
    return {
      url: `redis://deaf:secret@${here.redis.host}:${here.redis.port}`,
      deafen: async () => undefined,
    };
  },
  'was disconnected from it just now': async () => ({
    url: here.redis.url,
    deafen: async () => void (await here.raw.call('CLIENT', 'KILL', 'TYPE', 'pubsub')),
  }),
  'is disconnected again and again': async () => {
    const proxy = await TcpProxy.start({ port: here.redis.port });
    here.atEnd(() => proxy.close());
    return { url: proxy.url, deafen: async () => void proxy.cut() };
  },
} as const;

describe.each(Object.entries(DEAFNESS))('A process that %s', (_, make) => {
  it.each(CHANGES)(
    'heeds what others change after maxLag at the latest: %s',
    async (__, change) => {
      const { url, deafen } = await make();
      const coherence = { maxLag: MAX_LAG };
      const writer = await here.app({ cache: { coherence } });
      const reader = await here.app({ cache: { coherence, redis: url } });
      let row = 0;
      const read = () => reader.cache.getOrLoad('k', () => row, POLICY);
      for (let round = 0; round < 3; round++) {
        // In full use before, so that whatever it may remember is remembered.
        await until(async () => (await reader.cache.getOrLoad('k', () => row, POLICY)) === row, {
          what: 'a hit',
        });
        for (let i = 0; i < 5; i++) await read();
        row += 1;
        await deafen();
        await change(writer);
        const changed = performance.now();
        let last = -1;
        await until(async () => (last = await read()) === row, {
          what: 'the new row',
          timeout: 5_000,
          every: 5,
        });
        expect(last).toBe(row);
        expect(performance.now() - changed).toBeLessThan(MAX_LAG + 600);
        // For good.
        for (let i = 0; i < 5; i++) expect(await read()).toBe(row);
      }
    },
    30_000,
  );

  const CAN_TELL =
    _ === 'may not use the channel' ? (['clear'] as const) : (['invalidateTags', 'clear'] as const);
  it.each(CAN_TELL)(
    'and changes something itself is heard, and believes itself at once: %s',
    async (change) => {
      const { url, deafen } = await make();
      const coherence = { maxLag: MAX_LAG };
      const other = await here.app({ cache: { coherence } });
      const deaf = await here.app({ cache: { coherence, redis: url } });
      await until(async () => (await other.cache.getOrLoad('k', () => 'old', POLICY)) === 'old');
      await until(async () => (await deaf.cache.getOrLoad('k', () => 'old', POLICY)) === 'old');
      await deafen();
      const act = () => (change === 'clear' ? deaf.cache.clear() : deaf.cache.invalidateTags('t'));
      // Where its link was cut as well, the change says so and may be made again.
      await until(() => act().then(() => true), { what: 'the change to be acknowledged' });
      expect(await deaf.cache.get('k')).toBeUndefined();
      await until(async () => (await other.cache.get('k')) === undefined, { timeout: MAX_LAG + 1_000 });
    },
    30_000,
  );
});

it('A process that may not use the channel is told so when it invalidates a tag: nobody would hear of it', async () => {
  const { url } = await DEAFNESS['may not use the channel']();
  const deaf = await here.app({ cache: { redis: url } });

  expect(await errorOf(deaf.cache.invalidateTags('t'))).toMatchObject({
    code: 'INVALIDATION_FAILED',
    message: expect.stringContaining('+publish'),
  });
});
