import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.js';
import { Origin } from '../support/origin.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { CacheClient, type ConnectionSetup } from './fleet/cache-client.js';

const SECRET = 'p4ss/w@rd:s3cret';
const POLICY = { ttl: '1m', jitter: 0, earlyRefresh: 0 } as const;

let folder: string;
let server: RedisServer;
let port: number;
let ca: Buffer;
const clients: CacheClient[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'stampede-cache-tls-'));
  makeCertificate('ca');
  makeCertificate('stranger');
  ca = readFileSync(join(folder, 'ca.crt'));
  port = await freePort();
  const files = ['--tls-cert-file', file('ca.crt'), '--tls-key-file', file('ca.key')];
  server = await RedisServer.start({
    users: [`app on >${SECRET} ~* &* +@all`, 'default on nopass ~* &* +@all'],
    args: ['--tls-port', String(port), ...files, '--tls-auth-clients', 'no'],
  });
}, 30_000);
afterEach(() => Promise.all(clients.splice(0).map((client) => client.close())));
afterAll(async () => {
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

const file = (name: string): string => join(folder, name);

/** A certificate that signs itself, for 127.0.0.1. */
function makeCertificate(name: string): void {
  const files = ['-keyout', file(`${name}.key`), '-out', file(`${name}.crt`)];
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', ...kind, ...files, ...subject], { stdio: 'pipe' });
}

async function open(connection: unknown): Promise<CacheClient> {
  const options = { redisTimeout: '5s', redisWriteTimeout: '5s' } as const;
  const setup: ConnectionSetup = { connection, namespace: 'shop', options };
  const client = await CacheClient.open(setup);
  client.record();
  clients.push(client);
  return client;
}

/** Everything the cache said, thrown errors aside. */
const said = (client: CacheClient): string => JSON.stringify([client.warnings, client.events]);

describe('a Redis behind TLS', () => {
  const options = (certificate: Buffer) => ({
    ...{ host: '127.0.0.1', port, username: 'app', password: SECRET },
    tls: { ca: certificate },
  });

  it('is spoken to over TLS alone, for commands and for wake-ups', async () => {
    const [one, two] = [await open(options(ca)), await open(options(ca))];
    await until(() => one.store.pushUp() && two.store.pushUp(), { what: 'the subscriptions' });
    const origin = new Origin();
    const leads = one.entry('k', origin.load, POLICY);
    await origin.started(1);
    const waits = two.entry('k', origin.load, POLICY);
    await until(() => two.events.some(({ type }) => type === 'wait.start'), { what: 'the wait' });
    await origin.give('v');
    expect((await leads).outcome).toBe('loaded');
    expect((await waits).outcome).toBe('waited');
    const list = String(await server.client().client('LIST'));
    const apps = list.split('\n').filter((line) => line.includes('user=app'));
    // Two connections each, on the port for TLS.
    expect(apps).toHaveLength(4);
    expect(apps.every((line) => line.includes(`laddr=127.0.0.1:${port}`))).toBe(true);
  });

  it.each([
    ['signed by somebody else', () => options(readFileSync(file('stranger.crt')))],
    ['that nobody vouches for, by URL', () => `rediss://app:${encodeURIComponent(SECRET)}@127.0.0.1:${port}`],
    ['that is for another host', () => ({ ...options(ca), tls: { ca, servername: 'redis.example.com' } })],
  ])('with a certificate %s is not used, and calls go on without it', async (_, connection) => {
    const client = await open(connection());
    expect((await client.entry('k', () => 'v', POLICY)).outcome).toBe('loaded');
    expect((await client.entry('k', () => 'v', POLICY)).outcome).toBe('loaded');
    expect(said(client)).not.toContain(SECRET);
    expect(said(client)).not.toContain(encodeURIComponent(SECRET));
  });
});

describe('credentials that are wrong', () => {
  const wrong = 'wr0ng/s3cret';

  it.each([
    ['in a URL', () => `redis://app:${encodeURIComponent(wrong)}@127.0.0.1:${server.port}`],
    ['in options', () => ({ host: '127.0.0.1', port: server.port, username: 'app', password: wrong })],
  ])('%s are named in no log line, no event and no error', async (_, connection) => {
    const client = await open(connection());
    expect((await client.entry('k', () => 'v', POLICY)).outcome).toBe('loaded');
    const fail = (): Promise<unknown> => client.invalidate('k').catch((error: unknown) => error);
    const failed = await until(async () => /WRONGPASS/.test(String(await fail())) && fail(), {
      what: 'an error that tells the cause',
    });
    expect(failed).toMatchObject({ name: 'InvalidationError' });
    const stacks: string[] = [];
    for (let error = failed; error instanceof Error; error = error.cause) stacks.push(String(error.stack));
    for (const text of [said(client), ...stacks]) {
      expect(text).not.toContain(wrong);
      expect(text).not.toContain(encodeURIComponent(wrong));
    }
  });

  it.each([
    ['another scheme', `http://app:${wrong}@redis.example.com`],
    ['options of another library', { url: `redis://app:${wrong}@redis.example.com` }],
  ])('are not in the error that refuses %s', async (_, connection) => {
    const error: unknown = await open(connection).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ name: 'ConfigurationError' });
    expect(String((error as Error).stack)).not.toContain(wrong); // just checked to be one
  });
});
