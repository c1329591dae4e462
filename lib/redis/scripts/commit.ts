import type { Script } from './script.js';

/**
 * Publishes the staged entry, if the lease still stands. The mark of success is the entry's own id, so a resend is
 * recognised. PUBLISH comes last and through pcall: a user without the right to it gets no error after the fact.
 */
export const COMMIT: Script = {
  name: 'commit',
  numberOfKeys: 3,
  lua: `
-- KEYS: data, lease, staged
-- ARGV: token, hardMs, channel, published, ended
-- returns {code, now}: 0 fenced | 1 stored | 2 already stored by this token | 3 nothing was staged, the lease is released
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local lease = redis.call('GET', KEYS[2])
if not lease or string.sub(lease, 1, 23) ~= 'L' .. ARGV[1] then
  redis.call('UNLINK', KEYS[3])
  if redis.call('GETRANGE', KEYS[1], 46, 67) == ARGV[1] then return {2, now} end
  return {0, now}
end
local contended = string.sub(lease, 24, 24) == 'w'
if redis.call('EXISTS', KEYS[3]) == 0 then
  redis.call('DEL', KEYS[2])
  if contended then redis.pcall('PUBLISH', ARGV[3], ARGV[5]) end
  return {3, now}
end
redis.call('RENAME', KEYS[3], KEYS[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('DEL', KEYS[2])
if contended then redis.pcall('PUBLISH', ARGV[3], ARGV[4]) end
return {1, now}
`,
};
