/** What one process of a chaos run does when the coordinator asks for it. */
import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { machineNow } from '../history/clock.js';
import type { Report } from './records.js';
import { Subject, type SubjectSetup } from './subject.js';
import { BEACON } from './terms.js';
import { Traffic } from './traffic.js';

interface State {
  readonly subject: Subject;
  readonly setup: SubjectSetup;
  readonly traffic: Traffic;
  readonly delays: IntervalHistogram;
  peakQueue: number;
}

let state: State | undefined;
const unhandled: string[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(`unhandled rejection: ${String(reason)}`));
process.on('uncaughtException', (error) => unhandled.push(`uncaught exception: ${String(error)}`));

const RESOLUTION = 5;
const BEACON_EVERY = 20;

function here(): State {
  if (!state) throw new Error('open() comes first');
  return state;
}

export async function open(setup: SubjectSetup): Promise<void> {
  const subject = await Subject.open(setup);
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION });
  const peakQueue = subject.client ? 0 : -1;
  state = { subject, setup, traffic: new Traffic(subject, setup), delays, peakQueue };
  setInterval(watchQueue, RESOLUTION, state).unref();
}

/** The traffic goes on by itself. */
export function start(): void {
  here().delays.enable();
  here().traffic.start();
}

/** How long after `healed` a hit came from Redis, ms; NaN: none within `patience`. */
export async function recovered(number: number, healed: number, patience: number): Promise<number> {
  const { subject, setup } = here();
  const key = `${BEACON}-${setup.process}-${number}`;
  while (machineNow() - healed < patience) {
    const began = machineNow();
    const { outcome, end } = await subject.call(key);
    // From Redis, and asked for after it was well.
    if (outcome === 'fresh' && began > healed) return end - healed;
    await delay(BEACON_EVERY);
  }
  return NaN;
}

/** Ends the traffic, waits until every call has its end, and tells all. */
export async function finish(patience: number): Promise<Report> {
  const { subject, setup, traffic, delays, peakQueue } = here();
  traffic.stop();
  const until = machineNow() + patience;
  while (subject.underWay + traffic.unfinished > 0 && machineNow() < until) await delay(10);
  delays.disable();
  const { origin, calls, changes, lines } = subject;
  return {
    process: setup.process,
    calls,
    loads: origin.loads,
    changes,
    hanging: subject.underWay + traffic.unfinished,
    peakLoads: origin.peak,
    unhandled,
    lines,
    // The monitor counts its own period in.
    delay: { p99: delays.percentile(99) / 1e6 - RESOLUTION, max: delays.max / 1e6 - RESOLUTION },
    peakQueue,
  };
}

export async function shutdown(): Promise<void> {
  await state?.subject.close();
}

function watchQueue(now: State): void {
  const { client } = now.subject;
  if (!client) return;
  // ioredis keeps both, and types neither.
  const { commandQueue, offlineQueue } = client as unknown as Record<string, { readonly length: number }>;
  now.peakQueue = Math.max(now.peakQueue, (commandQueue?.length ?? 0) + (offlineQueue?.length ?? 0));
}
