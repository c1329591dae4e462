import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { CacheOptions } from '../../lib/core/cache-options.js';
import { createRedisStore } from '../../lib/redis/index.js';
import { createNodeRuntime } from '../../lib/runtime/index.js';
import { Process } from '../contract/cache/lab.js';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';

let server: RedisServer;
let admin: Redis;
let count = 0;

beforeAll(async () => {
  server = await RedisServer.start({
    users: ['nopub on >x ~* &* +@all -publish', 'nochan on >x ~* resetchannels +@all'],
  });
  admin = server.client();
});
afterAll(() => server.stop());

const failing = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'done',
    (error: unknown) => error,
  );

describe('hazards of an invalidation on Redis', () => {
  let namespace: string;
  const open: Process[] = [];
  const unhandled: unknown[] = [];
  const warnings: string[] = [];
  const on = (reason: unknown): void => void unhandled.push(reason);
  beforeAll(() => void process.on('unhandledRejection', on));
  afterAll(() => void process.off('unhandledRejection', on));
  beforeEach(() => {
    namespace = `hazard-${(count += 1)}`;
    unhandled.length = 0;
    warnings.length = 0;
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((one) => one.close()));
    if (unhandled.length > 0) throw new Error('unhandled', { cause: unhandled });
  });

  async function make(url = server.url, options: CacheOptions = {}, maxLag = 200): Promise<Process> {
    const runtime = createNodeRuntime({
      log: { info: () => undefined, warn: (line) => void warnings.push(line) },
    });
    const lab = {
      runtime,
      openStore: () => createRedisStore({ connection: url, namespace, runtime, maxLag }),
      advance: (ms: number) => delay(ms),
      warnings,
      close: async () => undefined,
    };
    const made = await Process.open(lab, { redisTimeout: 2_000, coherence: { maxLag }, ...options });
    open.push(made);
    return made;
  }

  for (const user of ['nopub', 'nochan']) {
    it(`ACL (${user}): a tag invalidated by a user who may not PUBLISH says so`, async () => {
      const writer = await make(`redis://${user}:x@127.0.0.1:${server.port}`);
      const reader = await make();
      await reader.get('k', () => 'old', { tags: ['t'] });
      await reader.get('k', () => 'never', { tags: ['t'] });
      await delay(300);
      await reader.get('k', () => 'never', { tags: ['t'] });
      const refusal = await failing(writer.cache.changes.invalidateTags(['t']));
      expect(refusal).toMatchObject({
        code: 'INVALIDATION_FAILED',
        message: expect.stringContaining('+publish'),
      });
      // Made all the same, and not made again and again.
      expect(writer.cache.stats().active.unsettled).toBe(0);
    });
  }

  it('a foreign tag record is replaced, and costs no more than a miss', async () => {
    const a = await make();
    await admin.set(`${namespace}:t:{t}`, 'c1700000000000'.padEnd(62, '!'));
    let loads = 0;
    for (let i = 0; i < 4; i++) {
      await a.get('k', () => (loads += 1), { tags: ['t'] });
      await delay(20);
    }
    expect({ loads, invalidation: await failing(a.cache.changes.invalidateTags(['t'])) }).toEqual({
      loads: 1,
      invalidation: 'done',
    });
  });

  for (const [what, type] of [
    ['tag', (ns: string) => `${ns}:t:{t}`],
    ['epochs', (ns: string) => `${ns}:epochs`],
    ['variants', (ns: string) => `${ns}:v:{Shop.find}`],
  ] as const) {
    it(`a ${what} key of another type: callers get values`, async () => {
      const a = await make();
      a.version = '1';
      await admin.hset(type(namespace), 'a', 'b');
      let loads = 0;
      for (let i = 0; i < 4; i++) {
        expect(await a.get('k', () => ((loads += 1), 'v'), { tags: ['t'] })).toBe('v');
        await delay(20);
      }
      expect(loads).toBeLessThanOrEqual(4);
    });
  }

  it.each(['99999999999999999', '999999999999999999999999999999', '9'.repeat(400)])(
    'an epochs key with the epoch %s: values are still stored, clear still clears',
    async (epoch) => {
      await admin.set(`${namespace}:epochs`, `${epoch} x ""\n`);
      const a = await make();
      let loads = 0;
      for (let i = 0; i < 4; i++) {
        await a.get('k', () => (loads += 1));
        await delay(20);
      }
      const cleared = await failing(a.cache.changes.clear());
      const after = await a.get('k', () => 'after clear');
      expect({ loads, cleared, after }).toEqual({ loads: 1, cleared: 'done', after: 'after clear' });
    },
  );

  it('an epochs key with garbage: nothing breaks', async () => {
    await admin.set(`${namespace}:epochs`, Buffer.from([0, 255, 10, 32, 32, 10, 49, 32, 50, 32, 51]));
    const a = await make();
    await a.get('k', () => 'v');
    await a.cache.changes.clear();
    expect(await a.get('k', () => 'v2')).toBe('v2');
    expect(await a.get('k', () => 'v3')).toBe('v2');
  });

  it('a variants key with garbage does not keep a versioned build from storing', async () => {
    await admin.set(`${namespace}:v:{Shop.find}`, `${'9'.repeat(30)} .x\n`);
    const a = await make();
    a.version = '1';
    let loads = 0;
    for (let i = 0; i < 4; i++) {
      await a.get('k', () => (loads += 1));
      await delay(20);
    }
    expect(loads).toBe(1);
  });

  it('an entry with 2,000 tags costs a miss, not thousands of commands', async () => {
    const a = await make();
    await a.get('k', () => 'v');
    await delay(50);
    const [name] = await admin.keys(`${namespace}:d:*`);
    const bytes = (await admin.getBuffer(name as string)) as Buffer;
    const length = Number(bytes.toString('latin1', 68, 72));
    let block = bytes.toString('latin1', 72, 72 + length) + ',';
    for (let i = 0; block.length < 9_990; i++) block += `,${i.toString(36)}~a~`;
    block = block.slice(0, block.lastIndexOf(','));
    const head = bytes.toString('latin1', 0, 68) + String(block.length).padStart(4, '0') + block;
    await admin.set(
      name as string,
      Buffer.concat([Buffer.from(head, 'latin1'), bytes.subarray(72 + length)]),
    );
    const counts = await server.countCommands(async () => {
      expect(await a.get('k', () => 'v2')).toBe('v2');
    });
    expect(counts['get'] ?? 0).toBeLessThan(50);
  });

  it('close with changes pending while Redis hangs takes less than 2 s', async () => {
    const proxy = await TcpProxy.start({ port: server.port });
    const a = await make(proxy.url);
    open.splice(0);
    await a.get('k', () => 'v', { tags: ['t'] });
    proxy.blackHole();
    const changes = [
      a.invalidate('k'),
      a.cache.changes.invalidateTags(['t']),
      a.cache.changes.clear(),
      a.set('j', 1),
    ];
    await Promise.all(changes.map(failing));
    await delay(150);
    const started = performance.now();
    await a.close();
    const took = performance.now() - started;
    await proxy.close();
    expect(took).toBeLessThan(2_000);
  });

  it('200 callers during a hold-off of 2 s: loads one at a time, few commands', async () => {
    const a = await make();
    const b = await make();
    await a.invalidate('k', 2_000);
    let loads = 0;
    let running = 0;
    let peak = 0;
    const load = async () => {
      loads += 1;
      peak = Math.max(peak, (running += 1));
      await delay(50);
      running -= 1;
      return 'v';
    };
    let calls = 0;
    const until = performance.now() + 2_000;
    const counts = await server.countCommands(async () => {
      await Promise.all(
        Array.from({ length: 200 }, async (_, i) => {
          while (performance.now() < until) {
            calls += 1;
            await (i % 2 ? a : b).get('k', load);
            await delay(10);
          }
        }),
      );
    });
    const commands = Object.values(counts).reduce((sum, one) => sum + one, 0);
    expect(peak).toBeLessThanOrEqual(2);
    expect(commands).toBeLessThan(10 * loads + calls * 2);
  });

  for (const [kind, crowd] of [
    ['key', 600],
    ['tag', 600],
    ['clear', 600],
    ['tag', 2_000],
  ] as const) {
    it(`${crowd} callers, a hot ${kind} invalidated again and again: loads <= keys + invalidations, nobody is shed`, async () => {
      const processes = [await make(), await make(), await make()];
      let loads = 0;
      let rejected = 0;
      const load = async () => {
        const mine = (loads += 1);
        await delay(30);
        return mine;
      };
      const policy = { tags: ['t'] };
      const [first] = processes as [Process, Process, Process];
      let isOver = false;
      let invalidations = 0;
      const callers = Array.from({ length: crowd }, async (_, i) => {
        await delay(i % 200);
        while (!isOver) {
          await (processes[i % 3] as Process).get('k', load, policy).catch(() => (rejected += 1));
          await delay(crowd === 600 ? 200 : 20);
        }
      });
      await delay(300);
      for (let i = 0; i < 30; i++) {
        const changes = (processes[i % 3] ?? first).cache.changes;
        if (kind === 'key') await (processes[i % 3] ?? first).invalidate('k');
        if (kind === 'tag') await changes.invalidateTags(['t']);
        if (kind === 'clear') await changes.clear();
        invalidations += 1;
        await delay(25);
      }
      await delay(500);
      isOver = true;
      await Promise.all(callers);
      expect(rejected).toBe(0);
      expect(loads).toBeLessThanOrEqual(1 + invalidations);
    });
  }
});
