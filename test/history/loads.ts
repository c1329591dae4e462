import { setTimeout as delay } from 'node:timers/promises';
import type { Deferred } from '../support/deferred.js';
import { deferred } from '../support/deferred.js';
import type { CallOrder } from './orders.js';
import { OriginError, type Origin } from './origin.js';
import type { Recorder } from './recorder.js';
import type { Row } from './records.js';

/** How one load behaves. Times in ms. */
export interface LoadPlan {
  /** Before it reads the row. */
  readonly before: number;
  /** After that. */
  readonly after: number;
  readonly fails?: boolean;
  /** Never ends by itself; `deaf`: does not heed its signal either, and comes with a value when nobody wants it any more. */
  readonly hangs?: boolean;
  readonly deaf?: boolean;
  /** It makes this cached call, once it has read its row. */
  readonly nested?: CallOrder;
  /** Waits, after it has read the row, until it is let go. */
  readonly held?: boolean;
}

/** What the cache said of a load when it began it. */
export interface LoadStart {
  readonly leased: boolean;
  readonly reason: string;
  readonly variant: string;
}

const LONG_AFTER = 1_500;

/** The loaders of one process: they behave as planned, and write down what they do. */
export class Loads {
  private readonly holds = new Map<string, Deferred<'go' | 'fail'>[]>();

  constructor(
    private readonly recorder: Recorder,
    private readonly origin: Origin,
    private readonly nest: (order: CallOrder, inside: string) => Promise<unknown>,
  ) {}

  async run(key: string, call: string, plan: LoadPlan, start: LoadStart, signal: AbortSignal): Promise<Row> {
    const { recorder, origin } = this;
    const id = recorder.id('l');
    recorder.note({ kind: 'load.begin', id, key, call, ...start });
    signal.addEventListener('abort', () => recorder.note({ kind: 'load.signal', id }), { once: true });
    try {
      await pause(plan.before, plan, signal);
      const version = await origin.read(key);
      recorder.note({ kind: 'load.row', id, version });
      if (plan.nested) await this.nest(plan.nested, id);
      const end = plan.held === true ? await this.hold(key, signal) : 'go';
      if (plan.hangs === true) await hang(plan, signal);
      await pause(plan.after, plan, signal);
      if (plan.fails === true || end === 'fail') throw new OriginError(id);
      recorder.note({ kind: 'load.end', id, ok: true });
      return { key, version, load: `~${id}~` };
    } catch (error) {
      recorder.note({ kind: 'load.end', id, ok: false });
      throw error;
    }
  }

  /** How many loads of the key have read their row and wait. */
  held(key: string): number {
    return this.holds.get(key)?.length ?? 0;
  }

  letGo(key: string, end: 'go' | 'fail' = 'go'): void {
    for (const hold of this.holds.get(key) ?? []) hold.resolve(end);
    this.holds.delete(key);
  }

  private async hold(key: string, signal: AbortSignal): Promise<'go' | 'fail'> {
    const hold = deferred<'go' | 'fail'>();
    this.holds.set(key, [...(this.holds.get(key) ?? []), hold]);
    signal.addEventListener('abort', () => hold.reject(signal.reason), { once: true });
    return hold.promise;
  }
}

async function pause(ms: number, plan: LoadPlan, signal: AbortSignal): Promise<void> {
  if (ms > 0) await delay(ms, undefined, plan.deaf === true ? {} : { signal });
}

async function hang(plan: LoadPlan, signal: AbortSignal): Promise<void> {
  if (plan.deaf === true) {
    await delay(LONG_AFTER);
    return;
  }
  await new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
}
