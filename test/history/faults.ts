import { setTimeout as delay } from 'node:timers/promises';
import { machineNow } from './clock.js';
import type { HistoryFleet } from './fleet.js';
import { befallServer } from './server-faults.js';
import { Random } from './random.js';

const MEAN_PAUSE = 500;
const KINDS = { kill: 42, freeze: 28, cut: 22, pause: 8, evict: 10, mute: 5, forget: 3 } as const;
const OF_THE_SERVER = { pause: true, evict: true, mute: true, forget: true } as const;
/** Redis itself: a place of its own among those that things happen to. */
const REDIS = -1;

export interface FaultOptions {
  /** How long a stopped process stays so, ms: from, to. */
  readonly freeze: readonly [number, number];
  /** Processes behind a proxy, whose connections are cut. */
  readonly proxied: readonly number[];
}

/** Lets things happen to the processes of a fleet, as its seed says, until `end`. One thing at a time to each process. */
export async function injectFaults(
  fleet: HistoryFleet,
  random: Random,
  end: number,
  options: FaultOptions,
): Promise<void> {
  const busy = new Set<number>();
  const running: Promise<void>[] = [];
  for (;;) {
    const pause = Math.min(random.around(MEAN_PAUSE), 3 * MEAN_PAUSE);
    if (machineNow() + pause >= end) break;
    await delay(pause);
    const kind = random.weighted(KINDS);
    const place = kind === 'cut' ? random.pick(options.proxied) : Math.floor(random.next() * fleet.size);
    const index = kind in OF_THE_SERVER ? REDIS : place;
    const ms = random.between(...options.freeze);
    // Drawn each time: what happens to one of them must not change what is drawn for the next.
    const own = new Random(Math.floor(random.next() * 2 ** 31));
    if (busy.has(index)) continue;
    busy.add(index);
    const fault = befall(fleet, kind, index, ms, own).catch((error: unknown) => {
      // Nothing can befall a process that has ended by itself; the fleet reports it.
      if (!fleet.crash) throw error;
    });
    running.push(fault.finally(() => busy.delete(index)));
    if (fleet.crash) break;
  }
  await Promise.all(running);
}

async function befall(
  fleet: HistoryFleet,
  kind: keyof typeof KINDS,
  index: number,
  ms: number,
  random: Random,
): Promise<void> {
  switch (kind) {
    case 'cut':
      return fleet.cut(index);
    case 'pause':
      return fleet.pauseRedis(ms);
    case 'freeze':
      return fleet.freeze(index, ms);
    case 'kill':
      return fleet.kill(index);
    default:
      return befallServer(fleet, kind, random);
  }
}
