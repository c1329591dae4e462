import type { ReadAnswer, SharedRead } from '../coherence/index.js';
import type { Answer, PlainCalls } from '../call/index.js';
import { nothing } from '../nothing.js';
import type { Request } from '../request.js';
import type { Batch } from './batch.js';
import type { Pace } from './pace.js';

/** What is known of one id before anything is loaded. */
interface Look {
  /** Undefined: a copy in this process answers, or nothing in the store would help. */
  readonly read: SharedRead | undefined;
  readonly found: ReadAnswer | undefined;
}

/**
 * Answers calls of which nothing has to be looked at before their reads: first all are read, then all misses set out at once.
 * Most calls for many are hits, and those cost a promise each.
 */
export async function lookThenLoad(
  calls: PlainCalls,
  pace: Pace,
  batch: Batch,
  requests: readonly Request[],
): Promise<PromiseSettledResult<Answer>[]> {
  const looks = await Promise.all(requests.map((request) => look(calls, pace, request)));
  const answers: Promise<Answer>[] = [];
  batch.together(() => {
    requests.forEach((request, at) => answers.push(answerOf(calls, request, looks[at])));
  });
  return Promise.allSettled(answers);
}

async function look(calls: PlainCalls, { reads }: Pace, request: Request): Promise<Look> {
  const found = calls.nearBy(request);
  if (found !== undefined) return { read: undefined, found };
  if (reads.hasRoom) reads.enter(nothing);
  else await new Promise<void>((resolve) => reads.enter(resolve));
  try {
    const read = calls.readStored(request);
    return { read, found: read && (await read.answer) };
  } finally {
    reads.leave();
  }
}

function answerOf(calls: PlainCalls, request: Request, looked: Look | undefined): Promise<Answer> {
  const { read, found } = looked ?? { read: undefined, found: undefined };
  try {
    const hit = calls.hitOf(request, found, 1);
    return hit === undefined ? calls.lead(request, read, found) : Promise.resolve(hit);
  } catch (error) {
    return Promise.reject(error as Error); // as it was stored
  }
}
