import { Redis } from 'ioredis';
import { RedisServer } from '../support/redis-server.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import type { App } from './support/app.js';
import { field } from './support/field.js';

const here = field();

let primary: RedisServer;
let replica: RedisServer;
/** The name both are known by. */
let name: TcpProxy;

async function startPair(): Promise<void> {
  const args = ['--repl-diskless-sync-delay', '0'];
  [primary, replica] = await Promise.all([RedisServer.start({ args }), RedisServer.start({ args })]);
  await replica.client().replicaof(primary.host, primary.port);
  await inStep(replica);
  name = await TcpProxy.start({ port: primary.port });
}

async function inStep(server: RedisServer): Promise<void> {
  const client = server.client();
  const looks = async () => (await client.info('replication')).includes('master_link_status:up');
  await until(looks, { what: 'the replica to follow' });
  client.disconnect();
}

/** The connected server becomes a replica, as a managed service does it: open connections stay where they are. */
async function failOver(): Promise<void> {
  await replica.client().replicaof('NO', 'ONE');
  await primary.client().replicaof(replica.host, replica.port);
}

beforeEach(startPair);
afterEach(async () => {
  // After those of the applications: the field closes them first.
  await Promise.all([primary.stop(), replica.stop(), name.close()]);
});

const keys = Array.from({ length: 10 }, (_, at) => `k${at}`);

/** Asks for cold keys too: what is stored already needs no write. */
async function askAll(app: App, round: number): Promise<void> {
  const asked = [...keys, `cold${round}`];
  const answers = await Promise.all(asked.map((key) => app.cache.getOrLoad(key, () => `value of ${key}`)));
  expect(answers).toEqual(asked.map((key) => `value of ${key}`));
}

describe('FC-020: the connected primary becomes read-only, and its name leads to another', () => {
  it('a client of our own reconnects and writes go on within 5 s; no call fails, no change is claimed', async () => {
    const app = await here.app({ cache: { redis: name.url } });
    await askAll(app, 0);
    await failOver();
    await expect(app.cache.invalidate('k0')).rejects.toMatchObject({ code: 'INVALIDATION_FAILED' });
    name.retarget({ port: replica.port });
    const healed = performance.now();
    const admin = replica.client();
    let round = 0;
    const written = async () => {
      await askAll(app, (round += 1));
      return (await admin.keys('*cold*')).length > 1; // the first was copied
    };
    await until(written, { what: 'a write', every: 20 });
    expect(performance.now() - healed).toBeLessThan(5000);
    await app.cache.invalidate('k1');
    expect(await app.cache.get('k1')).toBeUndefined();
    await app.close();
  }, 30_000);

  it('a client handed in without reconnectOnError is warned about, once', async () => {
    const client = new Redis(name.port);
    client.on('error', () => undefined);
    const app = await here.app({ cache: { redis: client } });
    await failOver();
    for (let round = 0; round < 3; round++) {
      await askAll(app, round);
      await expect(app.cache.invalidate('k0')).rejects.toMatchObject({ code: 'INVALIDATION_FAILED' });
    }
    const lines = here.lines.warnings.filter((line) => line.includes('reconnectOnError'));
    expect(lines).toHaveLength(1);
    await app.close();
    client.disconnect();
  }, 30_000);
});
