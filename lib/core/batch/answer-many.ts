import { NOT_FOUND, UNSTORED, type Answer, type PlainCalls } from '../call/index.js';
import { LoadManyError } from '../errors.js';
import type { Engine } from '../flight/index.js';
import type { EntryKey } from '../keys/index.js';
import { RunningLoadContext, type BatchMember } from '../load/index.js';
import type { ResolvedCall, ResolvedPolicy } from '../policy/index.js';
import type { Request } from '../request.js';
import { show } from '../show.js';
import { Batch } from './batch.js';
import type { BatchTerms } from './batch-load.js';
import { RunningManyContext, type LoadManyContext } from './load-many-context.js';
import { withAbsent } from './many-options.js';
import { lookThenLoad } from './look-then-load.js';
import type { Pace } from './pace.js';
import { valuesById } from './values-by-id.js';

/** One call for many ids. */
export interface ManyOrder {
  /** Whose call it is, for messages. */
  readonly where: string;
  /** Every id once, in the order of the result. */
  readonly ids: readonly unknown[];
  readonly policy: ResolvedPolicy;
  readonly call: ResolvedCall;
  readonly maxBatch: number;
  readonly load: (ids: never[], context: LoadManyContext<never, never>) => unknown;
  /** The entry of an id. Not asked for past the cache. */
  readonly entryOf: (id: unknown) => { readonly key: EntryKey; readonly args: readonly unknown[] };
}

/**
 * Answers each id as a call of its own; only their loads are made together.
 * @param plain where nothing has to be looked at before the reads
 * @param answer answers one call, where there is no such
 * @throws LoadManyError where ids failed; what `entryOf` throws; the reason of the call's signal
 */
export async function answerMany(
  engine: Engine,
  pace: Pace,
  order: ManyOrder,
  plain: PlainCalls | undefined,
  answer: (request: Request) => Answer | Promise<Answer>,
): Promise<Map<unknown, unknown>> {
  const { guard, runtime } = engine;
  const load = loaderOf(engine, order);
  const terms = { guard, pace, timers: runtime.timers, where: order.where, load };
  const policy = withAbsent(order.policy);
  const chunks = chunksOf(order).map((ids, chunk) => {
    const batch = new Batch(terms);
    const requests = ids.map((id, index) => {
      const { key, args } = order.entryOf(id);
      const member = batch.member(id, chunk * order.maxBatch + index);
      return { key, args, name: '', policy, call: order.call, batch: member, load: alone(id, terms) };
    });
    return { batch, requests };
  });
  const settled = await Promise.all(
    chunks.map(({ batch, requests }) =>
      plain === undefined ? eachForItself(answer, requests) : lookThenLoad(plain, pace, batch, requests),
    ),
  );
  return resultOf(order, settled.flat());
}

function eachForItself(
  answer: (request: Request) => Answer | Promise<Answer>,
  requests: readonly (Request & { readonly batch: BatchMember })[],
): Promise<PromiseSettledResult<Answer>[]> {
  return Promise.allSettled(
    requests.map(async (request) => {
      try {
        return await answer(request);
      } finally {
        request.batch.settle();
      }
    }),
  );
}

/**
 * The same past the cache.
 * @throws LoadManyError where ids failed; the reason of the call's signal
 */
export async function bypassMany(engine: Engine, order: ManyOrder): Promise<Map<unknown, unknown>> {
  const { where, call } = order;
  const load = loaderOf(engine, order);
  const signal = call.signal ?? new AbortController().signal;
  const answers = chunksOf(order).flatMap((ids) => {
    const contextOf = (): RunningLoadContext => new RunningLoadContext('', signal, where, () => undefined);
    const parts = ids.map((id, index) => ({ id, index, context: contextOf() }));
    const values = load(ids, new RunningManyContext(where, parts, signal));
    return ids.map(async (id): Promise<Answer> => {
      return { value: (await values).get(id), outcome: 'bypassed', ...UNSTORED };
    });
  });
  engine.counters.outcomes.bypassed += order.ids.length;
  return resultOf(order, await Promise.allSettled(answers));
}

function chunksOf({ ids, maxBatch }: ManyOrder): unknown[][] {
  const count = Math.ceil(ids.length / maxBatch);
  return Array.from({ length: count }, (_, index) => ids.slice(index * maxBatch, (index + 1) * maxBatch));
}

function loaderOf({ planning }: Engine, { where, load }: ManyOrder): BatchTerms['load'] {
  return async (ids, context) => {
    // Whoever called typed both; a list of its own, as a loader may empty it.
    const given: unknown = await load([...ids] as never[], context as never);
    return valuesById(given, ids, where, planning.advice);
  };
}

/** One that is loaded without the others: the cache was closed meanwhile. */
function alone(id: unknown, { where, load }: BatchTerms): Request['load'] {
  return async (context) => {
    // What the engine hands to loaders is always this.
    const parts = [{ id, index: 0, context: context as unknown as RunningLoadContext }];
    return (await load([id], new RunningManyContext(where, parts, context.signal))).get(id);
  };
}

function resultOf(
  { ids, call, where }: ManyOrder,
  settled: readonly PromiseSettledResult<Answer>[],
): Map<unknown, unknown> {
  const results = new Map<unknown, unknown>();
  const errors = new Map<unknown, unknown>();
  settled.forEach((one, index) => {
    if (one.status === 'rejected') errors.set(ids[index], one.reason);
    else if (one.value !== NOT_FOUND && one.value.value !== undefined)
      results.set(ids[index], one.value.value);
  });
  if (errors.size === 0) return results;
  call.signal?.throwIfAborted();
  const [first] = errors.values();
  const message = `${where}: ${errors.size} of ${ids.length} ids failed; \`results\` has the others. The first failed with ${show(first)}`;
  throw new LoadManyError(message, results, errors);
}
