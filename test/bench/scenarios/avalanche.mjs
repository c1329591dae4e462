import { OURS, withTraits, hasTrait } from '../adapters/index.mjs';
import { now } from '../clock.mjs';
import { figuresOf } from './expiry.mjs';

const LIMIT = 'raw GET';
const KEYS = 2_000;
const TTL = 1_000;
const WATCHED = 700;

export const avalanche = {
  id: 'avalanche',
  title: 'An avalanche',
  about:
    `${KEYS.toLocaleString('en')} keys that fall due at once while a stale value may be served for 5 s; a load takes 250 ms; one process, 3,000 ` +
    'calls a second over all keys in an open loop, from before they are due until 0.7 s after. Most refreshes running at once, and ' +
    `latency in ms. ${OURS} is told not to spread its expiries (\`jitter: 0\`, \`earlyRefresh: 0\`), which by default it does; ` +
    'its load guard has 100 slots.',
  names: [LIMIT, ...withTraits('loads').filter((name) => hasTrait(name, 'window'))],
  leftOut: { 'cache-aside': 'serves nothing past its ttl', cacheable: 'has no stale window' },
  processes: 1,
  view: {
    columns: [
      ['peak', 'most at once'],
      ['loads', 'loads'],
      ['p50', 'p50'],
      ['p99', 'p99'],
      ['max', 'longest'],
      ['errors', 'errors'],
    ],
    ratio: { figure: 'p99', better: 'lower', limit: [LIMIT] },
  },
  charts: [{ figure: 'peak', label: 'refreshes at once', without: [LIMIT] }],

  async round({ children, round, measure }) {
    await measure('', children, async ([child], name) => {
      const policy = { ttlMs: name === LIMIT ? 3_600_000 : TTL, staleMs: 5_000, together: true };
      const keys = { prefix: `avalanche-${round}-`, keys: KEYS };
      await child.call('fill', { ...keys, ...policy });
      const args = { ...keys, ...policy, rate: 3_000, ms: TTL + WATCHED, loadMs: 250, seed: round };
      return figuresOf([await child.call('traffic', { ...args, at: now() + 20 })]);
    });
  },
};
