import { withTraits } from '../adapters/index.mjs';
import { now, sleep } from '../clock.mjs';
import { most, quantile, sum } from '../stats.mjs';

const LIMIT = 'raw GET';
const LOAD_MS = 130;

/** All processes at the same moment. */
async function burstOf(name, members, { key, callers }) {
  const isLimit = name === LIMIT;
  if (isLimit) await members[0].call('burst', { key, callers: 1, loadMs: 0 });
  const at = now() + (members.length > 1 ? 60 : 15);
  const args = { key, callers, loadMs: isLimit ? 0 : LOAD_MS, at };
  const all = await Promise.all(members.map((member) => member.call('burst', args)));
  const spans = all.flatMap((one) => one.spans);
  // From the end of the first load on there is a value; the limit has it from the start.
  const since = isLimit ? at : Math.min(...spans.map(([, end]) => end));
  const lags = all.flatMap(({ ends }) => [...ends].map((end) => end - since));
  return {
    loads: spans.length,
    p50: quantile(lags, 0.5),
    p99: quantile(lags, 0.99),
    max: most(lags),
    errors: sum(all.map(({ errors }) => errors)),
  };
}

function burst({ id, title, processes, callers }) {
  const who = processes === 1 ? 'one process' : `each of ${processes} processes`;
  return {
    id,
    title,
    about:
      `${callers.toLocaleString('en')} callers of ${who} ask for one cold key at the same moment; its load takes ${LOAD_MS} ms. Loads ` +
      'counted; how long after the end of the first load the callers are served, in ms (the limit: the same callers, a raw `GET` and ' +
      '`JSON.parse` of a key that is there); commands each process sends to Redis on warm connections, counted in a burst apart.',
    names: [LIMIT, ...withTraits('loads')],
    processes,
    warmUp: true,
    view: {
      columns: [
        ['loads', 'loads'],
        ['p50', 'p50 lag, ms'],
        ['p99', 'p99 lag, ms'],
        ['max', 'longest, ms'],
        ['commands', 'commands a process'],
        ['errors', 'errors'],
      ],
      ratio: { figure: 'p99', better: 'lower', limit: [LIMIT] },
    },
    charts: [
      { figure: 'loads', label: 'loads', log: true, without: [LIMIT] },
      { figure: 'p99', label: 'p99 lag behind the load, ms', log: true },
    ],

    async round({ children, server, round, measure }) {
      await measure('', children, async (members, name) => {
        const figures = await burstOf(name, members, { key: `${id}-${round}`, callers });
        const counts = await server.commandsDuring(async () => {
          await burstOf(name, members, { key: `${id}-${round}-counted`, callers });
          await sleep(30); // what is written off the request path
        });
        return { ...figures, commands: sum(Object.values(counts)) / processes, sent: counts };
      });
    },
  };
}

export const coldProcess = burst({
  id: 'cold',
  title: 'A cold key in one process',
  processes: 1,
  callers: 2_000,
});
export const coldFleet = burst({
  id: 'cold-fleet',
  title: 'A cold key in four processes',
  processes: 4,
  callers: 500,
});
