import type { Script } from './script.js';
import { CONTENDED, HELD_UNTIL, leaseAt, NOW } from './snippets.js';

/**
 * Drops what lies in the lease's place, or puts a hold-off there; one that stands is never shortened. Needs `lease` and
 * `now`; `contended` tells whether somebody is to be woken.
 */
export const END_LEASE = (key: string, holdOffMs: string): string => `${HELD_UNTIL}
${CONTENDED}
local holdOff = ${holdOffMs}
if now + holdOff > heldUntil and holdOff > 0 then
  redis.call('SET', ${key}, string.format('H%013.0f', now + holdOff), 'PX', string.format('%.0f', holdOff))
elseif heldUntil == 0 and lease then
  redis.call('DEL', ${key})
end`;

/** The half of an invalidation or expiry that concerns the lease, for while a slot moves. */
export const REVOKE: Script = {
  name: 'revoke',
  numberOfKeys: 1,
  lua: `
-- KEYS: lease
-- ARGV: holdOffMs
-- returns {whether somebody waited for the lease, now}
${NOW}
${leaseAt('KEYS[1]')}
${END_LEASE('KEYS[1]', 'tonumber(ARGV[1])')}
return {contended and 1 or 0, now}
`,
};
