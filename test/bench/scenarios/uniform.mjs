import { withTraits } from '../adapters/index.mjs';
import { eachOf } from './each-of.mjs';

const PREFIX = 'uniform-';
const keysOf = (quick) => (quick ? 2_000 : 10_000);

export const uniform = {
  id: 'uniform',
  title: '10,000 keys',
  about:
    'Hits of 200 B over 10,000 keys, uniformly at random, callers in a closed loop, one process. Hits a second, and the ratio to the ' +
    'better of a raw `GET` and `JSON.parse`, plain and auto-pipelined, in the same round.',
  names: withTraits('hits'),
  processes: 1,
  warmUp: true,
  view: {
    figure: 'ops',
    better: 'higher',
    limit: ['raw GET', 'raw GET, auto-pipelined'],
    digits: 0,
  },
  charts: [{ case: 'c 64', label: 'hits a second' }],

  async prepare({ children, quick }) {
    const args = { prefix: PREFIX, keys: keysOf(quick), size: '200 B' };
    await eachOf(children, ([child]) => child.call('seed', args));
  },

  async round({ children, quick, measure }) {
    for (const callers of [64, 1_000]) {
      const args = {
        prefix: PREFIX,
        keys: keysOf(quick),
        callers,
        ms: quick ? 100 : 400,
        warmMs: quick ? 25 : 60,
      };
      await measure(`c ${callers.toLocaleString('en')}`, children, ([child]) => child.call('hits', args));
    }
  },
};
