/** What one process of a fleet does when its test asks for it. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Answer } from '../../../lib/core/call/index.js';
import type { EntryInfo } from '../../../lib/core/entries.js';
import type { StampedeCacheStats } from '../../../lib/core/events/index.js';
import type { Loader } from '../../../lib/core/request.js';
import type { AnyPolicy, CallOptions } from '../../../lib/core/policy/index.js';
import { describeError, type RemoteError } from '../../support/worker-protocol.js';
import { CacheClient, NAME, type CacheSetup } from './cache-client.js';
import { DataSource, SourceDown, type LoadPlan, type Row } from './data-source.js';
import { machineNow } from './machine-clock.js';
import { PlainCache } from './plain-cache.js';
import { Tally, type LoopResult } from './tally.js';

export interface WorkerSetup extends CacheSetup {
  readonly sourcePort: number;
}

export interface Order {
  readonly key: string;
  readonly plan: LoadPlan;
  readonly policy: AnyPolicy;
  /** Also list the source's error class in `errors`. */
  readonly knowsErrors?: boolean;
  readonly call?: Omit<CallOptions, 'signal'>;
}

/** How one call ended, and when by the machine's clock. */
export interface Reply {
  readonly value?: Row;
  readonly outcome?: string;
  readonly error?: RemoteError & { readonly instance: number; readonly known: boolean };
  readonly began: number;
  readonly ended: number;
}

interface State {
  readonly client: CacheClient;
  readonly source: DataSource;
  readonly plain: PlainCache;
}

const index = Number(process.env['WORKER_INDEX']);
let state: State | undefined;

function here(): State {
  if (!state) throw new Error('open() comes first');
  return state;
}

export async function open(setup: WorkerSetup): Promise<void> {
  const source = new DataSource(setup.sourcePort, index);
  state = {
    client: await CacheClient.open({ ...setup, holder: `worker-${index}/${process.pid}` }),
    source,
    plain: new PlainCache(setup.url, source),
  };
}

export function plainReads(key: string, callers: number): Promise<number> {
  return here().plain.reads(key, callers);
}

export function plainLoads(key: string, missed: number, plan: LoadPlan): Promise<void> {
  return here().plain.loads(key, missed, plan);
}

/** Calls once. */
export async function call(order: Order): Promise<Reply> {
  const [reply] = await burst(order, 1);
  if (!reply) throw new Error('one call has one reply');
  return reply;
}

/** Calls so many times at once. */
export async function burst(order: Order, callers: number): Promise<Reply[]> {
  const policy = policyOf(order);
  const errors = new Map<unknown, number>();
  const instanceOf = (error: unknown): number => {
    const known = errors.get(error) ?? errors.size;
    errors.set(error, known);
    return known;
  };
  const one = async (): Promise<Reply> => {
    const began = machineNow();
    try {
      const { value, outcome } = await answer(order, policy);
      // Every load of this fleet returns a Row.
      return { value: value as Row, outcome, began, ended: machineNow() };
    } catch (error) {
      const known = error instanceof SourceDown;
      const ended = machineNow();
      return { error: { ...describeError(error), instance: instanceOf(error), known }, began, ended };
    }
  };
  const replies = await Promise.all(Array.from({ length: callers }, one));
  await here().source.settled();
  return replies;
}

/** What a call for many keys came to. */
export interface ManyReply {
  /** Which load of its key each value is of. */
  readonly serials: readonly (readonly [key: string, serial: number])[];
  /** How many keys each call of the loader was for. */
  readonly batches: readonly number[];
}

/** Asks for many keys in one call, whose loads take `ms`. */
export async function many(keys: readonly string[], ms: number, policy: AnyPolicy): Promise<ManyReply> {
  const { client, source } = here();
  const batches: number[] = [];
  const load = async (missing: string[]): Promise<Map<string, number>> => {
    batches.push(missing.length);
    const begun = await Promise.all(
      missing.map(async (key) => [key, (await source.begin(key)).serial] as const),
    );
    await delay(ms);
    for (const [key, serial] of begun) source.end(key, serial);
    return new Map(begun);
  };
  const found = await client.many(keys, load, policy);
  await source.settled();
  return { serials: [...found], batches };
}

/** Calls one after another, `think` ms apart, from so many callers, for `ms`. */
export async function loop(
  order: Order,
  { callers, think, ms }: { readonly callers: number; readonly think: number; readonly ms: number },
): Promise<LoopResult> {
  const policy = policyOf(order);
  const tally = new Tally();
  const until = machineNow() + ms;
  const one = async (): Promise<void> => {
    // Callers of a process do not march in step.
    await delay(Math.random() * think);
    while (machineNow() < until) {
      const began = machineNow();
      try {
        const { value, outcome } = await answer(order, policy);
        tally.add(outcome, began, machineNow(), (value as Row).serial);
      } catch (error) {
        tally.fail(error);
      }
      await delay(think);
    }
  };
  await Promise.all(Array.from({ length: callers }, one));
  await here().source.settled();
  return tally.result();
}

/** Computes for so many ms of processor time; returns how long that took by the clock. */
export function spin(ms: number): number {
  const began = machineNow();
  const before = process.cpuUsage();
  for (let used = 0; used < ms * 1_000;) {
    for (let step = 0; step < 10_000; step++) Math.sqrt(step);
    const { user, system } = process.cpuUsage(before);
    used = user + system;
  }
  return machineNow() - began;
}

export async function invalidate(key: string): Promise<number> {
  await here().client.invalidate(key);
  return machineNow();
}

/** Changes what is stored in one of four ways; returns when that had resolved. */
export async function change(kind: 'key' | 'tag' | 'name' | 'all', key: string): Promise<number> {
  const { changes } = here().client.cache;
  if (kind === 'key') await here().client.invalidate(key);
  else if (kind === 'tag') await changes.invalidateTags([key]);
  else await changes.clear(kind === 'all' ? '' : NAME);
  return machineNow();
}

/** The key's id, as it stands in the names of its Redis keys. */
export function idOf(key: string): string {
  return here().client.idOf(key);
}

export function inspect(key: string): Promise<EntryInfo | null> {
  return here().client.inspect(key);
}

export function stats(): StampedeCacheStats {
  return here().client.stats();
}

export async function shutdown(): Promise<void> {
  if (!state) return;
  await state.client.close();
  state.source.close();
  state.plain.close();
}

function answer({ key, plan, call: options }: Order, policy: AnyPolicy): Promise<Answer> {
  return here().client.entry(key, loaderOf(key, plan, policy), policy, options);
}

function loaderOf(key: string, plan: LoadPlan, policy: AnyPolicy): Loader {
  const { client, source } = here();
  const { calls } = plan;
  if (!calls) return () => source.load(key, plan);
  return async () => {
    await client.entry(calls.key, () => source.load(calls.key, { ms: calls.ms }), policy);
    return source.load(key, plan);
  };
}

/** One object per burst: a policy is resolved once per object. */
function policyOf({ policy, knowsErrors = false }: Order): AnyPolicy {
  return knowsErrors ? { ...policy, errors: [SourceDown] } : policy;
}
