import { splitManyPolicy, type AnyManyPolicy, type ManyOrder } from '../core/batch/index.js';
import { ConfigurationError } from '../core/errors.js';
import { NO_KEY } from '../core/keys/index.js';
import type { CallOptions } from '../core/policy/index.js';
import { show } from '../core/show.js';
import { partsOf } from './call-requests.js';
import { UNNAMED } from './calls.js';
import { runInLoadOf } from './current-load.js';
import type { ManagedCache } from './managed-cache.js';

const WHERE = 'StampedeCacheService.getOrLoadMany';

/** Turns a call for many ids into one of the engine. */
export async function loadMany(
  cache: ManagedCache,
  ids: readonly unknown[],
  load: ManyOrder['load'],
  given: AnyManyPolicy,
  options: CallOptions | undefined,
): Promise<Map<unknown, unknown>> {
  const { core } = cache;
  const { requests } = core;
  check(ids, load);
  const { keyOf, maxBatch, policy } = splitManyPolicy(given, WHERE);
  const call = requests.call(options);
  const resolved = requests.policy(policy, WHERE);
  const order = { where: WHERE, ids: [...new Set(ids)], policy: resolved, maxBatch, load };
  if (cache.goesStraight(call)) {
    return core.answerMany({ ...order, call: { ...call, bypass: true }, entryOf: unkeyed });
  }
  // Read here, in the caller's own context, and once.
  const vary = requests.vary(call, resolved, WHERE);
  const opening = cache.ready();
  if (opening) await opening;
  return core.answerMany({
    ...order,
    call,
    load: (missing, context) => runInLoadOf(core, () => load(missing, context)),
    entryOf: (id) => {
      const key = keyOf(id);
      return { key: requests.keyOf(UNNAMED, vary, key, WHERE), args: partsOf(key) };
    },
  });
}

/** What goes past the cache has no key: it might not even be encodable. */
function unkeyed(): ReturnType<ManyOrder['entryOf']> {
  return { key: NO_KEY, args: [] };
}

function check(ids: unknown, load: unknown): void {
  if (!Array.isArray(ids)) {
    throw new ConfigurationError(`${WHERE}: ids are an array, received ${show(ids)}.`);
  }
  if (typeof load === 'function') return;
  throw new ConfigurationError(
    `${WHERE} takes a function that loads the missing ids, received ${show(load)}.`,
  );
}
