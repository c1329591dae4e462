/** One process that sends bursts of calls: in a test's own process the heap of all tests before is collected meanwhile. */
import { setTimeout as delay } from 'node:timers/promises';
import { CacheClient } from '../../integration/fleet/cache-client.js';

const LOAD = 50;
const KEYS = 20;
const CALLERS = 10;
const SPIN = 20;
const POLICY = { ttl: '1m' } as const;

export interface Burst {
  /** How long each of the calls took, ms, in order. */
  readonly times: readonly number[];
  readonly loads: number;
  readonly wrong: number;
}

let client: CacheClient | undefined;
let loads = 0;

function here(): CacheClient {
  if (!client) throw new Error('open() comes first');
  return client;
}

export async function open(url: string): Promise<void> {
  client = await CacheClient.open({ url, namespace: 'bursts' });
  await client.set('before', 'here', POLICY);
}

async function load(): Promise<string> {
  loads += 1;
  await delay(LOAD);
  return 'value';
}

/** 200 calls at once on 20 keys. */
export async function burst(name: string): Promise<Burst> {
  const before = loads;
  let wrong = 0;
  const call = async (key: string): Promise<number> => {
    const began = performance.now();
    if ((await here().entry(key, load, POLICY)).value !== 'value') wrong += 1;
    return performance.now() - began;
  };
  const keys = Array.from({ length: KEYS * CALLERS }, (_, index) => `${name}-${index % KEYS}`);
  const times = (await Promise.all(keys.map(call))).sort((a, b) => a - b);
  return { times, loads: loads - before, wrong };
}

export async function isHit(): Promise<boolean> {
  return (await here().entry('before', load, POLICY)).outcome === 'fresh';
}

/** How much longer this process computes at present than it would on a core of its own. */
export function busyness(): number {
  const began = performance.now();
  const used = process.cpuUsage();
  while (performance.now() - began < SPIN);
  const { user, system } = process.cpuUsage(used);
  return Math.max(1, (performance.now() - began) / ((user + system) / 1_000));
}

export async function shutdown(): Promise<void> {
  await client?.close();
}
