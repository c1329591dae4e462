import { groupBy } from '../group.js';
import type { Call, History, Load } from '../history.js';
import type { Ruling } from './ruling.js';
import { endOf } from './single-load.js';

/** Between the moment at which a load has its slot and its begin: it asks for the lease, ms. */
const ASKING = 300;

/**
 * Guarantee 7: the loads of one process at any moment are no more than its guard lets through. A load that waits for a call
 * of its own does not count: what it waits for runs on its slot.
 */
export function checkLoadGuard(history: History, ruling: Ruling): void {
  const nested = groupBy(
    [...history.calls.values()].filter(({ inside }) => inside !== undefined),
    ({ inside = '' }) => inside,
  );
  for (const [process, loads] of groupBy(history.loads.values(), (load) => load.process)) {
    const steps = loads.flatMap((load) => stepsOf(load, nested.get(load.id) ?? [], loads, history, ruling));
    // Whoever ended at the same moment makes room first.
    steps.sort((a, b) => a.at - b.at || a.by - b.by);
    checkSteps(history, ruling, process, steps);
  }
}

interface Step {
  readonly at: number;
  readonly by: 1 | -1;
  readonly load: Load;
}

function stepsOf(
  load: Load,
  calls: readonly Call[],
  loads: readonly Load[],
  history: History,
  ruling: Ruling,
): Step[] {
  const end = endOf(load, history);
  const steps: Step[] = [
    { at: load.begin, by: 1, load },
    { at: end, by: -1, load },
  ];
  for (const call of calls) {
    if (call.begin >= end) continue;
    steps.push({ at: call.begin, by: -1, load });
    const called = call.end ?? Infinity;
    const left = loads.find(
      (one) =>
        call.abortedAt !== undefined &&
        one.key === call.key &&
        one.begin > call.begin &&
        one.begin < called + ASKING &&
        endOf(one, history) > called,
    );
    // Like an abandoned load that ignores its signal, it does not count.
    if (left)
      ruling.exclude('7: a nested call was aborted, and its load went on on the slot of the load around');
    const resumes = left ? endOf(left, history) : called;
    if (resumes < end) steps.push({ at: resumes, by: 1, load });
  }
  return steps;
}

function checkSteps(history: History, ruling: Ruling, process: string, steps: readonly Step[]): void {
  const { concurrency } = history.limits;
  const active = new Set<string>();
  for (const { at, by, load } of steps) {
    if (by < 0) {
      active.delete(load.id);
      continue;
    }
    active.add(load.id);
    ruling.count('7');
    if (active.size === concurrency) ruling.count('7, at the limit');
    if (active.size <= concurrency) continue;
    ruling.violate({
      rule: '7',
      message: `${process} ran ${active.size} loads at once, its guard lets ${concurrency} through: ${[...active].join(', ')}`,
      key: load.key,
      from: load.begin,
      to: at,
      about: [...active],
    });
  }
}
