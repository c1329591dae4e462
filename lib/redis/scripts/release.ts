import type { Script } from './script.js';
import { leaseAt } from './snippets.js';

/**
 * Ends a load without an entry. With a back-off, and only while an entry is still stored, the lease becomes a failure
 * marker, kept well beyond its rest so that the doubling is remembered. A contended lease leaves its outcome, which
 * binds for 2 s whoever was told to wait for this token.
 */
export const RELEASE: Script = {
  name: 'release',
  numberOfKeys: 2,
  lua: `
-- KEYS: data, lease
-- ARGV: token, outcome, baseMs (0: no back-off), capMs, scale, channel, ended
-- returns {ours, now}
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
${leaseAt('KEYS[2]')}
if lease and string.sub(lease, 1, 23) == 'E' .. ARGV[1] then return {1, now} end
if not lease or string.sub(lease, 1, 23) ~= 'L' .. ARGV[1] then return {0, now} end
local contended = string.sub(lease, 24, 24) == 'w'
local failures = tonumber(string.sub(lease, 25, 27)) or 0
local outcome = contended and ARGV[2] or ''
local base = tonumber(ARGV[3])
local rest = 0
if base > 0 and redis.call('EXISTS', KEYS[1]) == 1 then
  rest = math.floor(math.min(tonumber(ARGV[4]), base * 2 ^ failures) * tonumber(ARGV[5]))
  failures = math.min(failures + 1, 999)
end
if rest > 0 or outcome ~= '' then
  local record = string.format('E%s-%03.0f%013.0f%013.0f', ARGV[1], failures, now, rest > 0 and now + rest or 0)
  local life = rest > 0 and 2 * rest + 10000 or 2000
  redis.call('SET', KEYS[2], record .. outcome, 'PX', string.format('%.0f', life))
else
  redis.call('DEL', KEYS[2])
end
if contended then redis.pcall('PUBLISH', ARGV[6], ARGV[7]) end
return {1, now}
`,
};
