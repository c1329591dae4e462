import { withTraits } from '../adapters/index.mjs';
import { now, sleep } from '../clock.mjs';
import { Child } from '../fleet/child.mjs';
import { namespaceOf } from '../fleet/pool.mjs';
import { most } from '../stats.mjs';

const LOAD_MS = 100;

export const crash = {
  id: 'crash',
  title: 'The loader is killed',
  about:
    'A process that loads a cold key gets SIGKILL 0.3 s into its load; from then on 50 callers of another process want the key, whose load ' +
    `takes ${LOAD_MS} ms: when they are served, in ms after the kill. Who takes no lease over the fleet waits for nobody; the lease is 3 s. ` +
    'All configurations at once: they wait, and do not compute.',
  names: withTraits('loads'),
  processes: 1,
  view: {
    columns: [
      ['first', 'first served'],
      ['last', 'last served'],
      ['loads', 'loads'],
      ['errors', 'errors'],
    ],
  },
  charts: [{ figure: 'last', label: 'last served, ms after the kill' }],

  async round({ children, server, round, measure }) {
    const names = Object.keys(children);
    const holders = Object.fromEntries(
      names.map((name) => [name, new Child(name, { url: server.url, namespace: namespaceOf(name) })]),
    );
    await Promise.all(Object.values(holders).map(({ ready }) => ready));
    const key = `crash-${round}`;
    const together = async ([other], name) => {
      await other.call('burst', { key: `${key}-warm`, callers: 1, loadMs: 0 });
      // Never answered: it is killed.
      holders[name].call('burst', { key, callers: 1, loadMs: 10_000 }).catch(() => undefined);
      await sleep(300);
      holders[name].kill();
      const killed = now();
      const { ends, errors, spans } = await other.call('burst', { key, callers: 50, loadMs: LOAD_MS });
      const served = [...ends].map((end) => end - killed);
      return { first: Math.min(...served), last: most(served), loads: spans.length, errors };
    };
    await measure('', children, together, { atOnce: names.length });
  },
};
