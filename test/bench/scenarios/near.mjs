import { withTraits } from '../adapters/index.mjs';
import { VALUES } from '../values.mjs';
import { eachOf } from './each-of.mjs';

const prefixOf = (size) => `near-${size.replace(' ', '')}-`;

export const near = {
  id: 'near',
  title: 'Hits in the process',
  about:
    'One caller that awaits one call after the other, answered by a copy in the process (`l1: {}`); nanoseconds a call by tinybench, ' +
    'and the ratio to an awaited `Map.get` of the same round. With `shared` all callers get one frozen value, else each its own copy. ' +
    'async-cache-dedupe and cachified keep values in memory or in Redis, not in both; layered-loader, cachified and ' +
    'async-cache-dedupe hand out one mutable object.',
  names: withTraits('near'),
  processes: 1,
  warmUp: true,
  view: { figure: 'ns', better: 'lower', limit: ['Map.get'], digits: 0 },
  charts: [{ case: '200 B', label: 'ns a call', log: true }],

  async prepare({ children }) {
    for (const size of Object.keys(VALUES)) {
      await eachOf(children, ([child]) => child.call('seed', { prefix: prefixOf(size), keys: 1, size }));
    }
  },

  async round({ children, quick, measure }) {
    for (const size of Object.keys(VALUES)) {
      const args = { prefix: prefixOf(size), ms: quick ? 100 : 400, warmMs: quick ? 30 : 100 };
      await measure(size, children, ([child]) => child.call('near', args));
    }
  },
};
