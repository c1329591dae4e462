import type { Script } from './script.js';

/**
 * An explicit set: the staged entry replaces what is there, a running load loses its lease. A command that ran too late
 * (timed out for its caller, executed after a reconnect) changes nothing.
 */
export const PUT: Script = {
  name: 'put',
  numberOfKeys: 3,
  lua: `
-- KEYS: data, lease, staged
-- ARGV: token, hardMs, notAfter, channel, published
-- returns {code, now}: 0 late | 1 stored | 2 already stored by this token | 3 the staged value is missing
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if redis.call('GETRANGE', KEYS[1], 46, 67) == ARGV[1] then
  redis.call('UNLINK', KEYS[3])
  return {2, now}
end
if now > tonumber(ARGV[3]) then
  redis.call('UNLINK', KEYS[3])
  return {0, now}
end
if redis.call('EXISTS', KEYS[3]) == 0 then return {3, now} end
local lease = redis.call('GET', KEYS[2])
redis.call('DEL', KEYS[2])
redis.call('RENAME', KEYS[3], KEYS[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
if lease and string.match(lease, '^L') and string.sub(lease, 24, 24) == 'w' then
  redis.pcall('PUBLISH', ARGV[4], ARGV[5])
end
return {1, now}
`,
};
