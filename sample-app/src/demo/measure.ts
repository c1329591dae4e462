import { Callers, type Answer } from './callers.js';
import { now } from './clock.js';
import type { Fleet } from './fleet.js';
import type { Progress } from './progress.js';
import { CALLERS, RUN_TIME, THINK_TIME, type Contender } from './scenario.js';

/** What happened in one part of a run. */
export interface Phase {
  readonly answers: readonly Answer[];
  /** When each query reached the database, in milliseconds since the start of the run. */
  readonly queries: readonly number[];
}

/** One contender's run: first nothing is cached, then the answer expires again and again. */
export interface Measurement {
  readonly contender: Contender;
  readonly cold: Phase;
  readonly expiring: Phase;
  /** When the last caller had the first answer, in milliseconds since the start of the run. */
  readonly coldEnd: number;
}

/** Compiles what a busy application has compiled long ago, with a key of its own: the one that is measured stays cold. */
export async function warmUp(origins: readonly string[], contenders: readonly Contender[]): Promise<void> {
  for (const { path } of contenders) {
    for (const callers of [origins.length, CALLERS, CALLERS]) {
      const crowd = new Callers({ urls: spread(origins, `${path}/warm-up`, callers), thinkTime: 0 });
      await crowd.askAtOnce();
      crowd.leave();
      const failed = crowd.answers.filter(({ ok }) => !ok).length;
      if (failed > 0) throw new Error(`${failed} of ${callers} requests failed before the start`);
    }
  }
}

export async function measure(
  contender: Contender,
  origins: readonly string[],
  fleet: Fleet,
  progress: Progress,
): Promise<Measurement> {
  const urls = spread(origins, `${contender.path}/lamps`, CALLERS);
  const callers = new Callers({ urls, thinkTime: THINK_TIME });
  const start = now();
  const queries = () => fleet.queries.filter((at) => at >= start).map((at) => at - start);
  const report = progress.follow(contender.name, () => {
    const [requests, sent] = [callers.answers.length, queries().length];
    return { seconds: (now() - start) / 1_000, requests, queries: sent, waiting: callers.waiting };
  });
  try {
    await callers.askAtOnce();
    const coldEnd = now() - start;
    const first = callers.answers.length;
    await callers.keepAsking(start + RUN_TIME);
    const all = queries();
    return {
      contender,
      coldEnd,
      cold: { answers: callers.answers.slice(0, first), queries: all.filter((at) => at < coldEnd) },
      expiring: { answers: callers.answers.slice(first), queries: all.filter((at) => at >= coldEnd) },
    };
  } finally {
    report.end();
    callers.leave();
  }
}

/** As many URLs as callers, evenly spread over the processes. */
function spread(origins: readonly string[], path: string, callers: number): string[] {
  return Array.from({ length: callers }, (_, n) => `${origins[n % origins.length]}/${path}`);
}
