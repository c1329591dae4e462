/** One process under an open loop: calls come at their rate, whether or not earlier ones have been answered. */
import { monitorEventLoopDelay, type IntervalHistogram } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { AnyPolicy } from '../../../lib/core/policy/index.js';
import { CacheClient, type CacheSetup } from './cache-client.js';
import { machineNow } from './machine-clock.js';
import { quantile } from './tally.js';

export interface OpenLoopSetup extends CacheSetup {
  /** Where the fleet counts the loads at its origin; undefined: each process for itself. */
  readonly booksUrl?: string;
}

export interface Traffic {
  /** Calls a second. */
  readonly rate: number;
  /** Over so many keys, at random. */
  readonly keys: number;
  /** How long a load takes, ms. */
  readonly loadMs: number;
  /** More loads at once, in the whole fleet, fail. Needs books. */
  readonly capacity?: number;
  /** `false`: the loads alone, without the module. */
  readonly cached: boolean;
  readonly policy: AnyPolicy;
}

/** What came of the calls that ended since the last look. */
export interface Look {
  readonly outcomes: Readonly<Record<string, number>>;
  readonly errors: Readonly<Record<string, number>>;
  /** Since the start, also those that were not answered yet. */
  readonly calls: number;
  readonly open: number;
  /** Loads at once at most, and loads begun, since the start. */
  readonly peak: number;
  readonly loads: number;
  /** Of the answers since the last look, ms. */
  readonly p99: number;
  readonly slowest: number;
  /** p99 of the event loop's delay since the last look, ms. */
  readonly loopDelay: number;
}

/** How often calls are let in, ms. */
const STEP = 5;

let client: CacheClient | undefined;
let books: Redis | undefined;
let loop: OpenLoop | undefined;

export async function open({ booksUrl, ...setup }: OpenLoopSetup): Promise<void> {
  client = await CacheClient.open(setup);
  if (booksUrl === undefined) return;
  books = new Redis(booksUrl, { disconnectTimeout: 50 });
  books.on('error', () => undefined);
}

export function begin(traffic: Traffic): void {
  loop = new OpenLoop(traffic);
  loop.run();
}

export function look(): Look {
  return running().look();
}

/** No more calls; waits for those under way. */
export async function end(): Promise<Look> {
  await running().end();
  return running().look();
}

export async function shutdown(): Promise<void> {
  await client?.close();
  books?.disconnect();
}

function running(): OpenLoop {
  if (!loop) throw new Error('begin() comes first');
  return loop;
}

class OpenLoop {
  private outcomes: Record<string, number> = {};
  private errors: Record<string, number> = {};
  private latencies: number[] = [];
  private calls = 0;
  private under = 0;
  private now = 0;
  private peak = 0;
  private loads = 0;
  private ended = false;
  private readonly delays: IntervalHistogram = monitorEventLoopDelay({ resolution: 5 });

  constructor(private readonly traffic: Traffic) {}

  run(): void {
    this.delays.enable();
    const began = machineNow();
    const step = (): void => {
      if (this.ended) return;
      const due = ((machineNow() - began) / 1_000) * this.traffic.rate;
      while (this.calls < due) void this.call();
      setTimeout(step, STEP);
    };
    step();
  }

  look(): Look {
    const { outcomes, errors, calls, under: open, peak, loads, delays } = this;
    const sorted = this.latencies.sort((a, b) => a - b);
    const loopDelay = delays.percentile(99) / 1e6;
    delays.reset();
    this.outcomes = {};
    this.errors = {};
    this.latencies = [];
    const [p99, slowest] = [quantile(sorted, 0.99), quantile(sorted, 1)];
    return { outcomes, errors, calls, open, peak, loads, p99, slowest, loopDelay };
  }

  async end(): Promise<void> {
    this.ended = true;
    while (this.under > 0) await delay(5);
    this.delays.disable();
  }

  private async call(): Promise<void> {
    const key = `product-${Math.floor(Math.random() * this.traffic.keys)}`;
    this.calls += 1;
    this.under += 1;
    const began = machineNow();
    try {
      const outcome = await this.answer(key);
      this.outcomes[outcome] = (this.outcomes[outcome] ?? 0) + 1;
    } catch (error) {
      const name = error instanceof Error ? error.name : String(error);
      this.errors[name] = (this.errors[name] ?? 0) + 1;
    }
    this.latencies.push(machineNow() - began);
    this.under -= 1;
  }

  private async answer(key: string): Promise<string> {
    const { cached, policy } = this.traffic;
    if (!client) throw new Error('open() comes first');
    if (cached) return (await client.entry(key, () => this.load(key), policy)).outcome;
    await this.load(key);
    return 'plain';
  }

  private async load(key: string): Promise<{ key: string; text: string }> {
    this.loads += 1;
    this.now += 1;
    this.peak = Math.max(this.peak, this.now);
    try {
      await this.occupy();
      return { key, text: 'x'.repeat(200) };
    } finally {
      this.now -= 1;
    }
  }

  private async occupy(): Promise<void> {
    const { loadMs, capacity } = this.traffic;
    if (!books || capacity === undefined) return delay(loadMs);
    try {
      if ((await books.incr('running')) > capacity) throw new Error('the database has no connection left');
      await delay(loadMs);
    } finally {
      await books.decr('running');
    }
  }
}
