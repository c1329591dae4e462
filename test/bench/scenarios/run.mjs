import { eachOf } from './each-of.mjs';

/**
 * Runs one scenario. In each round the configurations take turns, so that whatever else the machine does meets all of them; round
 * 0 only warms up.
 * @param print takes a line: scenario, case, adapter, round and figures
 * @param cases those that are measured; all without it
 */
export async function runScenario(
  scenario,
  { pool, server, rounds, quick, print, names = scenario.names, cases },
) {
  const { id } = scenario;

  /** `atOnce` configurations at a time: only where they wait, and do not compute. */
  async function measure(name, children, act, { atOnce = 1, round = current } = {}) {
    if (cases && !cases.includes(name)) return;
    const waiting = Object.keys(children);
    while (waiting.length > 0) {
      const some = Object.fromEntries(waiting.splice(0, atOnce).map((each) => [each, children[each]]));
      const taken = Object.keys(some);
      await eachOf(some, async (members, adapter) => {
        const figures = await act(members, adapter);
        if (round > 0) print({ scenario: id, case: name, adapter, round, ...figures });
      });
      for (const each of taken) if (!(each in some)) delete children[each];
    }
  }

  let current = 0;
  if (scenario.run) return scenario.run({ rounds, quick, measure, names });
  const children = await pool.open(names, scenario.processes);
  await scenario.prepare?.({ children, quick });
  for (current = scenario.warmUp ? 0 : 1; current <= rounds; current++) {
    await scenario.round({ children, server, round: current, quick, measure });
  }
}
