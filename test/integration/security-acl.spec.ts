import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Process, type Lab } from '../contract/cache/lab.js';
import { createRedisStore, type RedisStore } from '../../lib/redis/index.js';
import { createNodeRuntime } from '../../lib/runtime/index.js';
import { Origin } from '../support/origin.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

/** As `docs/security.md` has it. */
const COMMANDS = [
  ...['get', 'mget', 'getrange', 'set', 'setrange', 'del', 'unlink', 'exists', 'rename', 'pexpire', 'pttl'],
  ...['eval', 'evalsha', 'publish', 'subscribe', 'ping', 'time', 'info'],
] as const;
/** A Cluster of one. */
const CLUSTER_ARGS = ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'];

/** What ioredis asks a Cluster besides. */
const CLUSTER_COMMANDS = ['cluster|slots', 'cluster|info'] as const;

const userWith = (commands: readonly string[]): string =>
  `app on >secret ~shop:* &shop:* ${commands.map((command) => `+${command}`).join(' ')}`;

const servers: RedisServer[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())));

async function startServer(commands: readonly string[], ...args: string[]): Promise<RedisServer> {
  const server = await RedisServer.start({ users: [userWith(commands)], args });
  servers.push(server);
  return server;
}

interface Watched extends Lab {
  readonly warnings: string[];
}

function labOn(connection: unknown): Watched {
  const warnings: string[] = [];
  const runtime = createNodeRuntime({
    log: { info: () => undefined, warn: (line) => void warnings.push(line) },
  });
  const openStore = (): Promise<RedisStore> =>
    createRedisStore({ connection, namespace: 'shop', runtime, maxLag: 100 });
  const advance = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
  return { runtime, openStore, advance, warnings, close: () => Promise.resolve() };
}

const OPTIONS = { redisTimeout: '10s', redisWriteTimeout: '10s', coherence: { maxLag: 100 } } as const;

/** Uses everything the cache can do, in two processes. */
async function everyOperation(lab: Watched): Promise<void> {
  const [one, two] = [await Process.open(lab, OPTIONS), await Process.open(lab, OPTIONS)];
  try {
    await until(() => one.store.pushUp() && two.store.pushUp(), { what: 'the subscriptions' });
    await loadsAndHits(one, two);
    await staleRefreshes(one, two);
    await changes(one, two);
    await tags(one, two);
    await versions(one);
  } finally {
    await Promise.all([one.close(), two.close()]);
  }
}

/** One loads, with a lease short enough to be renewed, the other waits and is woken. */
async function loadsAndHits(one: Process, two: Process): Promise<void> {
  const origin = new Origin();
  const leads = one.get('k', origin.load, { lease: 900 });
  await origin.started(1);
  const waits = two.get('k', () => 'not needed', { lease: 900 });
  await until(() => two.types().includes('wait.start'), { what: 'the wait' });
  await until(async () => Number((await one.inspect('k'))?.lease?.since) > 0, { what: 'the lease' });
  // It is renewed every third of its length.
  await new Promise((resolve) => setTimeout(resolve, 400));
  await origin.give('v');
  expect(await Promise.all([leads, waits])).toEqual(['v', 'v']);
  expect(two.types()).toContain('wait.end');
  expect((await two.entry('k', () => 'not needed')).outcome).toBe('fresh');
  const both = ['k', 'l'].map((key) => two.get(key, () => 'v'));
  expect(await Promise.all(both)).toEqual(['v', 'v']);
}

/** A stale value is refreshed, kept by `notModified`, and outlives a failure. */
async function staleRefreshes(one: Process, two: Process): Promise<void> {
  const policy = { ttl: 20, stale: 60_000 };
  const soft = async (load: Parameters<Process['get']>[1], then: string): Promise<void> => {
    const times = (): number => one.types().filter((type) => type === then).length;
    let before = Infinity;
    const watched: typeof load = (ctx) => ((before = times()), load(ctx));
    const refreshed = async (): Promise<boolean> => {
      await one.entry('soft', watched, policy);
      return times() > before;
    };
    await until(async () => (await one.inspect('soft')) !== null, { what: 'the entry' });
    await until(refreshed, { every: 20, what: then });
  };
  await one.get('soft', () => 1, policy);
  await soft(() => 2, 'publish');
  await soft((ctx) => ctx.notModified(), 'publish');
  expect(await two.get('soft', () => 3, policy)).toBe(2);
  await soft(() => Promise.reject(new Error('failed')), 'load.error');
}

async function changes(one: Process, two: Process): Promise<void> {
  await one.set('k', 'set');
  expect(await two.get('k', () => 'loaded')).toBe('set');
  await one.expire('k');
  expect((await two.inspect('k'))?.state).toBe('expired');
  await one.invalidate('k');
  expect(await two.get('k', () => 'loaded')).toBe('loaded');
  await one.invalidate('k', 60_000);
  expect(await two.get('k', () => 'held off')).toBe('held off');
  expect(await two.peek('k')).toBeUndefined();
  await two.get('k2', () => 'old');
  await one.cache.changes.clear();
  expect(await one.get('k2', () => 'new')).toBe('new');
}

async function tags(one: Process, two: Process): Promise<void> {
  const policy = { tags: ['t'], valueTags: () => ['late'] };
  await one.get('tagged', () => 'old', policy);
  expect(await two.get('tagged', () => 'not needed', policy)).toBe('old');
  await one.cache.changes.expireTags(['t']);
  await one.cache.changes.invalidateTags(['late'], 1);
  expect(await one.get('tagged', () => 'new', policy)).toBe('new');
}

async function versions(one: Process): Promise<void> {
  one.version = '2';
  expect(await one.get('versioned', () => 'v2')).toBe('v2');
  await one.invalidate('versioned');
  expect(await one.peek('versioned')).toBeUndefined();
}

/** The commands that the server refused since it started. */
async function denied(server: RedisServer): Promise<string[]> {
  // Each entry is a list of names and values.
  const log = (await server.client().call('ACL', 'LOG')) as unknown[][];
  return log.map((entry) => String(entry[entry.indexOf('object') + 1]));
}

/** Those of the commands that never ran. */
async function unused(server: RedisServer, commands: readonly string[]): Promise<string[]> {
  const counts = await server.commandCounts();
  return commands.filter((command) => !counts[command]);
}

describe('a Redis user with no more rights than docs/security.md lists', () => {
  it('can do all there is to do, and has no right that is not used', async () => {
    const server = await startServer(COMMANDS);
    const lab = labOn(`redis://app:secret@127.0.0.1:${server.port}`);
    await everyOperation(lab);
    expect(await denied(server)).toEqual([]);
    expect(await unused(server, COMMANDS)).toEqual([]);
    expect(lab.warnings.filter((line) => /refuse|NOPERM/.test(line))).toEqual([]);
  });

  it('the same on a Cluster, with two more', async () => {
    const commands = [...COMMANDS, ...CLUSTER_COMMANDS];
    const server = await startServer(commands, ...CLUSTER_ARGS);
    const admin = server.client();
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await until(async () => /cluster_state:ok/.test(String(await admin.call('CLUSTER', 'INFO'))), {
      what: 'the cluster',
    });
    const nodes = [{ host: '127.0.0.1', port: server.port }];
    const lab = labOn({ nodes, options: { redisOptions: { username: 'app', password: 'secret' } } });
    await everyOperation(lab);
    // A name for the connection, which ioredis does without.
    expect((await denied(server)).filter((command) => command !== 'client|setname')).toEqual([]);
    expect(await unused(server, CLUSTER_COMMANDS)).toEqual([]);
  });

  it('is the one that the documentation makes', () => {
    const text = readFileSync(join(__dirname, '..', '..', 'docs', 'security.md'), 'utf8');
    const [, rule = ''] = /ACL SETUSER ([^`]*)```/.exec(text) ?? [];
    const granted = Array.from(rule.matchAll(/\+(\S+)/g), ([, command]) => command);
    expect(new Set(granted)).toEqual(new Set(COMMANDS));
  });

  it('reaches no key and no channel outside its namespace, and needs none', async () => {
    const server = await startServer(COMMANDS);
    const app = server.client({ username: 'app', password: 'secret' });
    await expect(app.get('other:d:{k}')).rejects.toThrow(/NOPERM/);
    await expect(app.publish('other:wake', 'x')).rejects.toThrow(/NOPERM/);
    await expect(app.eval("return redis.call('GET', KEYS[1])", 1, 'other')).rejects.toThrow(/NOPERM|key/);
    for (const command of ['KEYS *', 'SCAN 0', 'FLUSHALL', 'FLUSHDB', 'CONFIG GET dir', 'SCRIPT FLUSH']) {
      const [name = '', ...args] = command.split(' ');
      await expect(app.call(name, ...args)).rejects.toThrow(/NOPERM/);
    }
  });
});
