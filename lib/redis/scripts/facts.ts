import type { Script } from './script.js';
import { leaseAt } from './snippets.js';

/** What stands beside the payload, for inspection. Writes nothing. */
export const FACTS: Script = {
  name: 'facts',
  numberOfKeys: 2,
  lua: `
-- KEYS: data, lease
-- ARGV: none
-- returns {now, life of the entry in ms, lease value or '', life of the lease in ms}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
${leaseAt('KEYS[2]')}
return {now, redis.call('PTTL', KEYS[1]), lease or '', redis.call('PTTL', KEYS[2])}
`,
};
