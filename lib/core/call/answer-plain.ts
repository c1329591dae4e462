import type { ReadAnswer } from '../coherence/index.js';
import type { Engine, Refresher } from '../flight/index.js';
import type { Request } from '../request.js';
import { isLarge, judge, type Answer } from './answers.js';
import { Call } from './call.js';
import { joinsUnread } from './join-or-lead.js';
import { readHit, serve } from './serve.js';

/**
 * Answers a call of which nothing has to be looked at before its read. Most are hits of a read that others share: of those
 * each costs one promise, whose callback runs in its caller's own async context, and no more.
 */
export function answerPlain(engine: Engine, refresher: Refresher, request: Request): Promise<Answer> {
  if (engine.reads.mayBeNear(request) || joinsUnread(engine, request)) {
    return new Call(engine, refresher, request, undefined).answer();
  }
  const arrival = engine.arrivals.next();
  const { answer, budget, since } = engine.reads.readShared(request);
  return answer.then((read) => {
    const hit = hitOf(engine, refresher, request, read);
    if (hit !== undefined) return hit;
    const start = { arrival, arrivedAt: since, budget: { left: budget.left } };
    return new Call(engine, refresher, request, undefined, start).answerWith(read);
  });
}

/** Undefined: it takes more than this. @throws a stored error */
function hitOf(
  engine: Engine,
  refresher: Refresher,
  request: Request,
  read: ReadAnswer | undefined,
): Answer | undefined {
  const entry = read?.entry;
  if (entry === undefined || request.call.fresh || isLarge(entry.payload, request)) return undefined;
  const now = engine.gate.store.now();
  const reading = readHit(engine, refresher, request, entry, judge(engine, entry, request, now), now);
  if (reading === undefined) return undefined;
  const answer = serve(engine, request, reading);
  engine.counters.outcomes[answer.outcome] += 1;
  return answer;
}
