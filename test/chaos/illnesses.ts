import { setTimeout as delay } from 'node:timers/promises';
import { machineNow } from '../history/clock.js';
import type { Random } from '../history/random.js';
import { until } from '../support/until.js';
import type { ChaosFleet } from './fleet.js';
import type { IllnessRecord } from './records.js';

type Course = Pick<IllnessRecord, 'begin' | 'healed' | 'lost'>;
/** Makes Redis ill for so many ms, and well again. */
type Illness = (fleet: ChaosFleet, ms: number, random: Random) => Promise<Course>;

/** What a replica may lag behind when its master dies, with room to spare, ms. */
const REPLICA_LAG = 500;
const SLOW = 200;

export const ILLNESSES = {
  /** SIGKILL, and an empty server after it. */
  killed: async (fleet, ms) => {
    const begin = machineNow();
    await fleet.redis.kill();
    await delay(ms);
    await fleet.redis.restart();
    return { begin, healed: machineNow() };
  },

  /** SIGSTOP and SIGCONT: what was sent meanwhile is executed then. */
  frozen: async (fleet, ms) => {
    const begin = machineNow();
    fleet.redis.pause();
    await delay(ms);
    fleet.redis.resume();
    return { begin, healed: machineNow() };
  },

  /** Twice as slow as a call waits. */
  slow: async (fleet, ms) => {
    const begin = machineNow();
    for (const gateway of fleet.at) gateway.delayReplies(SLOW);
    await delay(ms);
    for (const gateway of fleet.at) gateway.delayReplies(0);
    return { begin, healed: machineNow() };
  },

  /** `maxmemory` with `noeviction`: reads are answered, writes are refused. */
  full: async (fleet, ms) => {
    const client = fleet.client();
    const begin = machineNow();
    await client.config('SET', 'maxmemory', '1');
    await delay(ms);
    await client.config('SET', 'maxmemory', '0');
    return { begin, healed: machineNow() };
  },

  /** A planned failover that loses nothing. The old master refuses writes until everybody is led to the new one. */
  'failed over': async (fleet, ms) => {
    await fleet.inSync();
    const begin = machineNow();
    await fleet.client().call('FAILOVER', 'TIMEOUT', '5000');
    const promoted = async (): Promise<boolean> =>
      (await fleet.client(fleet.other).info('replication')).includes('role:master');
    await until(promoted, { what: 'the replica to be promoted', every: 10 });
    await delay(ms);
    fleet.swap();
    return { begin, healed: machineNow() };
  },

  /** The master dies, and its replica takes its place: what had not reached it is lost. */
  'master lost': async (fleet, ms) => {
    await fleet.inSync();
    const begin = machineNow();
    await fleet.redis.kill();
    const lost = { from: begin - REPLICA_LAG, to: machineNow() };
    await delay(ms);
    await fleet.client(fleet.other).replicaof('NO', 'ONE');
    fleet.swap();
    const healed = machineNow();
    await fleet.other.restart();
    await fleet.client(fleet.other).replicaof(fleet.redis.host, fleet.redis.port);
    return { begin, healed, lost };
  },

  /** Every key is gone from one moment to the next, leases, tags and all; several times. */
  flushed: (fleet, ms) => repeated(ms, () => fleet.client().flushall()),

  /** The server forgets its scripts. */
  forgetful: (fleet, ms) => repeated(ms, () => fleet.client().script('FLUSH')),

  /** The connections of some processes fall silent for good, and nobody closes them. New ones work. */
  'half-open': async (fleet, ms, random) => {
    const begin = machineNow();
    const chosen = fleet.at.filter((_, index) => index < 2 || random.chance(0.5));
    await Promise.all(chosen.map((gateway) => gateway.strand()));
    await delay(ms);
    // What a cache made itself must have reconnected by now; a client handed in is the application's.
    for (const [index, gateway] of fleet.at.entries()) if (index % 2 === 1) gateway.rescue();
    return { begin, healed: machineNow() };
  },

  /** Connections are reset again and again. */
  'cut off': (fleet, ms, random) =>
    repeated(ms, async () => {
      for (const gateway of fleet.at) if (random.chance(0.7)) gateway.cut();
    }),
} as const satisfies Readonly<Record<string, Illness>>;

export type IllnessName = keyof typeof ILLNESSES;

const PERIOD = 300;

async function repeated(ms: number, blow: () => Promise<unknown>): Promise<Course> {
  const begin = machineNow();
  do {
    await blow();
    await delay(PERIOD);
  } while (machineNow() - begin < ms);
  return { begin, healed: machineNow() };
}
