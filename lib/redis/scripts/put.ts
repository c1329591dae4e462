import type { Script } from './script.js';
import { HELD_UNTIL, ID, leaseAt, NOW } from './snippets.js';

/**
 * An explicit set: the staged entry replaces what is there, a running load loses its lease, a hold-off stays. A command
 * that ran too late (timed out for its caller, executed after a reconnect) changes nothing.
 */
export const PUT: Script = {
  name: 'put',
  numberOfKeys: 3,
  lua: `
-- KEYS: data, lease, staged
-- ARGV: token, hardMs, notAfter, channel, published
-- returns {code, now}: 0 late | 1 stored | 2 already stored by this token | 3 the staged value is missing
${NOW}
${ID}
if id == ARGV[1] then
  redis.call('UNLINK', KEYS[3])
  return {2, now}
end
if now > tonumber(ARGV[3]) then
  redis.call('UNLINK', KEYS[3])
  return {0, now}
end
if redis.call('EXISTS', KEYS[3]) == 0 then return {3, now} end
${leaseAt('KEYS[2]')}
${HELD_UNTIL}
if heldUntil == 0 then redis.call('DEL', KEYS[2]) end
redis.call('RENAME', KEYS[3], KEYS[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.pcall('PUBLISH', ARGV[4], ARGV[5])
return {1, now}
`,
};
