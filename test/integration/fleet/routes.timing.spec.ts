import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { startWorkers, type Workers } from '../../support/processes.js';
import { RedisServer } from '../../support/redis-server.js';
import { DataSource } from './data-source.js';
import { measured } from './fleet.js';

type Site = typeof import('./route.worker.js');

const PROCESSES = 2;
const BURST = 2_000;
const REQUESTS = 1_000;
const PAGES = 5;
const USERS = ['ann', 'bob', 'eve'] as const;
/** Pages that say whose they are by a decorator, a header, a cookie, or not at all. */
const KINDS = ['declared', 'header', 'cookie', 'hidden'] as const;

let redis: RedisServer;
let books: RedisServer;
let source: DataSource;
let sites: Workers<Site>;
let agent: Agent;

beforeAll(async () => {
  redis = await RedisServer.start();
  books = await RedisServer.start();
  source = new DataSource(books.port);
  agent = new Agent({ keepAlive: true, maxSockets: BURST });
  sites = await startWorkers<Site>({ module: join(__dirname, 'route.worker.ts'), count: PROCESSES });
}, 30_000);
afterAll(async () => {
  agent.destroy();
  try {
    await sites.stop();
  } finally {
    source.close();
    await Promise.all([redis.stop(), books.stop()]);
  }
});

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

function get(url: string, headers: Record<string, string> = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    sent.once('error', reject).end();
  });
}

/** What tells answers of one entry apart. */
const OWN = new Set(['cache-status', 'age', 'date', 'connection', 'keep-alive']);
const sameOf = ({ status, headers, text }: Answer) => {
  return JSON.stringify([status, Object.entries(headers).filter(([name]) => !OWN.has(name)), text]);
};

/** The same numbers each time (mulberry32). */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

type Sender = { readonly who: string; readonly headers: Record<string, string> };

/** A user by token, by session or by both, or nobody. */
function senderOf(random: (below: number) => number): Sender {
  const who = USERS[random(USERS.length)] ?? 'ann';
  const token = { authorization: `Bearer ${who}` };
  const session = { cookie: `theme=dark; sid=${who}` };
  const ways = [token, session, { ...token, ...session }] as const;
  const way = ways[random(ways.length + 1)];
  return way ? { who, headers: way } : { who: 'nobody', headers: {} };
}

describe.each(['express', 'fastify'] as const)('Two processes with cached routes, on %s', (platform) => {
  let urls: string[];
  beforeAll(async () => {
    urls = await sites.all('open', platform, redis.url, books.port);
  }, 30_000);
  afterAll(() => sites.all('shut'));

  it('run the handler of a cold route once for 2,000 requests, all of whom get the same', async () => {
    // The control: without the cache each of them runs it.
    await Promise.all(
      Array.from({ length: 50 }, (_, index) => get(`${urls[index % PROCESSES]}/bare/${platform}`)),
    );
    expect(await source.count(`bare:${platform}`)).toBe(50);
    const began = performance.now();
    const answers = await Promise.all(
      Array.from({ length: BURST }, (_, index) => get(`${urls[index % PROCESSES]}/cold/${platform}`)),
    );
    measured('2,000 requests for a cold route, ms', { took: performance.now() - began });
    expect(await source.count(`cold:${platform}`)).toBe(1);
    expect(answers[0]).toMatchObject({ status: 203, headers: { 'x-serial': '1' } });
    expect(new Set(answers.map(sameOf))).toEqual(new Set([sameOf(answers[0] as Answer)]));
  }, 30_000);

  it('give no answer to anybody but its user, in 1,000 random requests of 3 users', async () => {
    const random = randomFrom(7);
    const wrong: string[] = [];
    const one = async () => {
      const { who, headers } = senderOf(random);
      const kind = KINDS[random(KINDS.length)] ?? 'declared';
      const path = `/${kind}/${random(PAGES)}`;
      const url = `${urls[random(PROCESSES)]}${path}`;
      const { status, text } = await get(url, headers);
      const expected = JSON.stringify({ page: path.split('/')[2], of: who });
      if (status !== 200 || text !== expected) wrong.push(`${path} for ${who}: ${status} ${text}`);
    };
    for (let sent = 0; sent < REQUESTS; sent += 50) {
      await Promise.all(Array.from({ length: 50 }, one));
    }
    expect(wrong).toEqual([]);
  }, 30_000);

  it('leave no key in Redis for requests with a credential that nothing covers', async () => {
    const client = redis.client();
    await client.flushall();
    const random = randomFrom(11);
    for (let sent = 0; sent < 200; sent++) {
      const { headers } = senderOf(random);
      if (Object.keys(headers).length === 0) continue;
      await get(`${urls[random(PROCESSES)]}/hidden/${random(PAGES)}`, headers);
    }
    // Entries and leases: a heartbeat is no key of a request.
    expect(await client.keys('*:d:*')).toEqual([]);
    expect(await client.keys('*:l:*')).toEqual([]);
    client.disconnect();
  }, 30_000);
});
