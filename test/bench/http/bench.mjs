/**
 * What a cached route costs, beside a route without a cache, a handler that reads Redis itself, an interceptor that only answers,
 * and the official CacheInterceptor on @keyv/redis; on Express and Fastify, over one Redis. The cases take turns in each round, so that
 * whatever else the machine does meets all of them. One line of JSON a measurement, then a table of medians and ratios.
 *
 *   npm run bench:http -- [--rounds=5] [--seconds=2] [--connections=20] [--only=express] [--docs=docs]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import autocannon from 'autocannon';
import { ensureDist } from '../../../scripts/ensure-dist.mjs';
import { RedisServer } from '../fleet/redis.mjs';
import { Redis } from '../root.mjs';
import { bodyOf, rawKey, SIZES } from './bodies.mjs';
import { page } from './page.mjs';
import { table } from './table.mjs';

const KEYS = 1_000;
const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '20' },
    only: { type: 'string' },
    docs: { type: 'string' },
  },
});
const [rounds, seconds, connections] = [values.rounds, values.seconds, values.connections].map(Number);

/** By name: the path, and whether it is one of many keys. */
const CASES = {
  constant: (size) => `/plain/constant/${size}`,
  'empty interceptor': (size) => `/empty/${size}`,
  interceptor: (size) => `/bare/${size}`,
  'busy interceptor': (size) => `/busy/${size}`,
  hot: (size) => `/ours/${size}`,
  'hot in Redis': (size) => `/ours/stored/${size}`,
  'official hot': (size) => `/official/${size}`,
  getBuffer: (size, id) => `/plain/raw/${size}/${id}`,
  'interceptor, getBuffer': (size, id) => `/bare/${size}/${id}`,
  keys: (size, id) => `/ours/${size}/${id}`,
  'official keys': (size, id) => `/official/${size}/${id}`,
};
const isOfMany = (name) => CASES[name].length > 1;

async function startSite(adapter, redis) {
  const env = { ...process.env, NODE_ENV: 'production', ADAPTER: adapter, REDIS_URL: redis };
  const child = fork(fileURLToPath(new URL('./server.mjs', import.meta.url)), { env });
  const told = await Promise.race([once(child, 'message'), once(child, 'exit')]);
  const { url } = Object(told[0]);
  if (url === undefined) throw new Error(`the ${adapter} application did not start`);
  return { adapter, url, child };
}

/** How many handlers have run, and the CPU time that was used, in µs. */
async function countsOf({ child }) {
  child.send('counts');
  const [{ runs, cpu }] = await once(child, 'message');
  return { runs, cpu: cpu.user + cpu.system };
}

async function load({ url }, name, size, duration) {
  const path = CASES[name];
  const random = () => path(size, Math.floor(Math.random() * KEYS));
  const requests = isOfMany(name)
    ? [{ setupRequest: (request) => ({ ...request, path: random() }) }]
    : [{ path: path(size) }];
  const result = await autocannon({ url, connections, duration, requests });
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${name}: ${result.non2xx} answers that are no 2xx, ${result.errors} errors`);
  }
  const { requests: perSecond, latency } = result;
  return { total: perSecond.total, rps: perSecond.average, p50: latency.p50, p99: latency.p99 };
}

/** Fills all entries: what is measured are hits. */
async function fill(site) {
  for (const size of SIZES) {
    for (const name of ['hot', 'hot in Redis', 'official hot'])
      await fetch(site.url + CASES[name](size)).then((r) => r.text());
    for (let id = 0; id < KEYS; id++) {
      for (const name of ['keys', 'official keys']) {
        await fetch(site.url + CASES[name](size, id)).then((r) => r.text());
      }
    }
  }
}

async function measure(sites) {
  const lines = [];
  for (let round = 0; round <= rounds; round++) {
    const isWarmUp = round === 0;
    for (const size of SIZES) {
      for (const name of Object.keys(CASES)) {
        for (const site of sites) {
          const before = await countsOf(site);
          const { total, ...figures } = await load(site, name, size, isWarmUp ? 1 : seconds);
          const after = await countsOf(site);
          const runs = after.runs - before.runs;
          if (runs > 0) throw new Error(`${site.adapter}, ${name}: ${runs} handlers ran, these are not hits`);
          if (isWarmUp) continue;
          const cpu = (after.cpu - before.cpu) / total;
          const line = { adapter: site.adapter, size, case: name, round, ...figures, cpu };
          lines.push(line);
          console.log(JSON.stringify(line));
        }
      }
    }
  }
  return lines;
}

ensureDist();
const server = await RedisServer.start();
const sites = [];
try {
  const client = new Redis(server.url);
  for (const size of SIZES) {
    for (let id = 0; id < KEYS; id++) {
      await client.set(rawKey(size, id), JSON.stringify(bodyOf(size, String(id))));
    }
  }
  const adapters = ['express', 'fastify'].filter((each) => values.only === undefined || values.only === each);
  for (const adapter of adapters) sites.push(await startSite(adapter, server.url));
  for (const site of sites) await fill(site);
  const lines = await measure(sites);
  const tables = table(lines);
  console.log(tables);
  if (values.docs !== undefined) {
    const processor = `${cpus().length} cores (${cpus()[0]?.model ?? 'unknown'})`;
    const file = join(values.docs, 'benchmarks-http.md');
    writeFileSync(file, page(tables, { rounds, seconds, connections, processor }));
  }
  client.disconnect();
} finally {
  for (const { child } of sites) child.kill();
  await server.stop();
}
