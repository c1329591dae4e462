import { hasTrait, withTraits } from '../adapters/index.mjs';

const COUNT = 1_000;

export const batch = {
  id: 'batch',
  title: '1,000 ids in one call',
  about:
    'One caller that asks for 1,000 ids of 200 B again and again, all of them hits: ms a call by tinybench; and the first call, which loads ' +
    'them all. The limit: the better of `MGET` and a pipeline of `GET`s, with `JSON.parse`. Where there is a call for many ids it is used; ' +
    'cacheable and cache-manager only read and write many, the load in between is by hand. Marked *: no such call, one for each id at once.',
  names: withTraits('many', 'single'),
  processes: 1,
  warmUp: true,
  mark: (name) => (hasTrait(name, 'single') ? '*' : ''),
  view: {
    columns: [
      ['ms', 'hits, ms'],
      ['coldMs', 'cold, ms'],
      ['coldLoads', 'calls of the loader'],
    ],
    ratio: { figure: 'ms', better: 'lower', limit: ['raw MGET', 'raw pipeline'] },
  },
  charts: [{ figure: 'ms', label: 'ms a call of 1,000 hits' }],

  async round({ children, round, quick, measure }) {
    const args = { prefix: `batch-${round}-`, count: COUNT, ms: quick ? 100 : 500, warmMs: quick ? 30 : 100 };
    await measure('', children, ([child]) => child.call('many', args));
  },
};
