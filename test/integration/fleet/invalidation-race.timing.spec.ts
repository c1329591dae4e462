import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { TcpProxy } from '../../support/tcp-proxy.js';
import { errorsOf, Fleet, measured } from './fleet.js';
import type { Order, Reply } from './fleet.worker.js';
import { machineNow } from './machine-clock.js';

/** Of each kind. */
const REPETITIONS = 100;
/** So many keys are under test at a time. */
const SIDE_BY_SIDE = 8;
const LONGEST_LOAD = 40;
/** Replies reach the process of the old load so much later: that widens windows of microseconds. */
const LONGEST_DELAY = 10;

let fleet: Fleet;
let proxy: TcpProxy | undefined;

beforeAll(async () => {
  fleet = await Fleet.start({
    processes: 2,
    urlOf: async (index, redis) => {
      if (index !== 0) return redis.url;
      proxy = await TcpProxy.start(redis);
      return proxy.url;
    },
  });
  proxy?.delayReplies(() => (Math.random() < 0.5 ? 0 : Math.random() * LONGEST_DELAY));
}, 30_000);
afterAll(async () => {
  try {
    await fleet.stop();
  } finally {
    await proxy?.close();
  }
});

/** What the older load is: a caller's own, or a refresh in the background. */
type Kind = 'load' | 'refresh';

const POLICIES: Readonly<Record<Kind, Order['policy']>> = {
  load: { ttl: '1m' },
  refresh: { ttl: 1, stale: '1m' },
};

interface Race {
  readonly stale: number;
  readonly rawStale: number;
  readonly errors: readonly string[];
  /** The old load was under way when the invalidation began, and over only after it had resolved. */
  readonly overlapped: boolean;
}

/** The old row, which no call begun after the invalidation may return. */
const isOld = ({ value }: Reply): boolean => value?.row === 'admin';

async function race(kind: Kind, raw: Redis): Promise<Race> {
  const key = fleet.key();
  const dataName = await fleet.dataKey(key);
  const plan = { ms: LONGEST_LOAD, random: true };
  const order: Order = { key, plan, policy: POLICIES[kind] };
  await fleet.source.update(key, 'admin');
  if (kind === 'refresh') await fleet.workers.call(0, 'call', order);
  const before = fleet.workers.call(0, 'burst', order, 3);
  await delay(Math.random() * LONGEST_LOAD);
  await fleet.source.update(key, 'none');
  const resolved = await fleet.workers.call(1, 'invalidate', key);

  // While the old load runs, and after it: both processes, and Redis itself.
  const after: Reply[] = [];
  let rawStale = 0;
  const look = async (): Promise<void> => {
    const [bytes, ...replies] = await Promise.all([
      raw.getBuffer(dataName),
      fleet.workers.call(0, 'burst', order, 2),
      fleet.workers.call(1, 'burst', order, 2),
    ]);
    if (bytes?.includes('admin') === true) rawStale += 1;
    after.push(...replies.flat());
  };
  let over = false;
  const watched = before.finally(() => (over = true));
  // A refresh in the background has no callers whose end would tell its own.
  while (!over || machineNow() < resolved + LONGEST_LOAD + LONGEST_DELAY) await look();
  const own = await watched;
  await look();
  const loads = await fleet.source.loads(key);
  const overlapped = loads.some(({ begin, end = 0 }) => begin < resolved && end > resolved);
  return { stale: after.filter(isOld).length, rawStale, errors: errorsOf([...own, ...after]), overlapped };
}

async function fencedSoFar(): Promise<number> {
  const stats = await fleet.workers.all('stats');
  return stats.reduce((sum, { publishes }) => sum + publishes.fenced, 0);
}

describe('An invalidation while an older load runs elsewhere (FC-010, FC-085)', () => {
  it.each<Kind>(['load', 'refresh'])(
    `is never undone by a %s: ${REPETITIONS} times with random pauses`,
    async (kind) => {
      await fleet.control(3);
      const raw = fleet.redis.client();
      const before = await fencedSoFar();
      const races: Race[] = [];
      while (races.length < REPETITIONS) {
        races.push(...(await Promise.all(Array.from({ length: SIDE_BY_SIDE }, () => race(kind, raw)))));
      }
      const fenced = (await fencedSoFar()) - before;
      const overlapped = races.filter((each) => each.overlapped).length;
      measured('invalidations', { races: races.length, overlapped, fenced });
      expect(races.flatMap(({ errors }) => errors)).toEqual([]);
      expect(races.reduce((sum, { stale }) => sum + stale, 0)).toBe(0);
      expect(races.reduce((sum, { rawStale }) => sum + rawStale, 0)).toBe(0);
      // Otherwise nothing was put to the test.
      expect(overlapped).toBeGreaterThan(REPETITIONS / 10);
      expect(fenced).toBeGreaterThan(REPETITIONS / 10);
    },
    60_000,
  );
});
