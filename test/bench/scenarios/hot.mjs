import { withTraits } from '../adapters/index.mjs';
import { eachOf } from './each-of.mjs';
import { VALUES } from '../values.mjs';

const CALLERS = [1, 64, 1_000];
const prefixOf = (size) => `hot-${size.replace(' ', '')}-`;

export const hot = {
  id: 'hot',
  title: 'One hot key',
  about:
    'Hits of one key, each answered by Redis: callers in a closed loop, one process. Answers a second, and beside them the ratio to ' +
    'a raw `GET` and `JSON.parse` of the same round. Who reads once for all callers who ask within a turn beats one `GET` a call; ' +
    '`shared` hands out one frozen value, everything else a copy per caller, but for async-cache-dedupe, layered-loader and ' +
    'cache-manager, whose concurrent callers get one mutable object.',
  names: withTraits('hits'),
  processes: 1,
  warmUp: true,
  view: { figure: 'ops', better: 'higher', limit: ['raw GET'], digits: 0 },
  charts: [
    { case: '200 B, c 1,000', label: 'answers a second', log: true },
    { case: '20 KB, c 64', label: 'answers a second', log: true },
  ],

  async prepare({ children }) {
    for (const size of Object.keys(VALUES)) {
      await eachOf(children, ([child]) => child.call('seed', { prefix: prefixOf(size), keys: 1, size }));
    }
  },

  async round({ children, quick, measure }) {
    for (const size of Object.keys(VALUES)) {
      for (const callers of CALLERS) {
        const slow = size === '20 KB' && callers > 64;
        const ms = (quick ? 60 : 250) * (slow ? 2 : 1);
        await measure(`${size}, c ${callers.toLocaleString('en')}`, children, ([child]) =>
          child.call('hits', { prefix: prefixOf(size), keys: 1, callers, ms, warmMs: quick ? 15 : 40 }),
        );
      }
    }
  },
};
