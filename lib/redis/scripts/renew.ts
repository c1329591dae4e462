import type { Script } from './script.js';
import { leaseAt } from './snippets.js';

/** Extends a lease that is still held, and tells whether anybody waits for it. */
export const RENEW: Script = {
  name: 'renew',
  numberOfKeys: 1,
  lua: `
-- KEYS: lease
-- ARGV: token, leaseMs
-- returns {held, contended, now}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
${leaseAt('KEYS[1]')}
if not lease or string.sub(lease, 1, 23) ~= 'L' .. ARGV[1] then return {0, 0, now} end
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if string.sub(lease, 24, 24) == 'w' then return {1, 1, now} end
return {1, 0, now}
`,
};
