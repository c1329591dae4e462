import type { Script } from './script.js';
import { HEAD, HELD_UNTIL, leaseAt, NOW } from './snippets.js';

/**
 * Asks for the right to load. A usable entry goes before everything; the caller reads it again, no payload passes through
 * Lua. A hold-off comes next. A resend of a token that already owns the lease is its owner still, and the contended mark
 * stays.
 */
export const ACQUIRE: Script = {
  name: 'acquire',
  numberOfKeys: 2,
  lua: `
-- KEYS: data, lease
-- ARGV: token, leaseMs, holder, probe, willWait, rejectedId, hasStale, waitedOn
-- returns {code, now, ms, text}: hit | owner | free | wait (ms left, token) | resting, heldOff (ms left) | outcome (text)
${NOW}
${HEAD}
if #head == 68 and string.sub(head, 1, 1) == '2' and string.sub(head, 47, 68) ~= ARGV[6] then
  local softAt = tonumber(string.sub(head, 5, 17))
  if softAt and softAt > now then return {'hit', now, 0, ''} end
end
${leaseAt('KEYS[2]')}
local failures = '000'
${HELD_UNTIL}
if heldUntil > 0 then return {'heldOff', now, heldUntil - now, ''} end
if lease then
  local kind = string.match(lease, '^[LE]')
  local token = string.sub(lease, 2, 23)
  local count, at = string.match(lease, '^(%d%d%d)(%d%d%d%d%d%d%d%d%d%d%d%d%d)', 25)
  if kind == 'L' and count then
    if token == ARGV[1] then
      if ARGV[4] ~= '1' then redis.call('PEXPIRE', KEYS[2], ARGV[2]) end
      return {'owner', now, 0, ''}
    end
    if ARGV[5] == '1' and string.sub(lease, 24, 24) ~= 'w' then
      redis.call('SET', KEYS[2], string.sub(lease, 1, 23) .. 'w' .. string.sub(lease, 25), 'KEEPTTL')
    end
    local left = redis.call('PTTL', KEYS[2])
    if left < 0 then
      redis.call('PEXPIRE', KEYS[2], ARGV[2])
      left = tonumber(ARGV[2])
    end
    return {'wait', now, left, token}
  end
  local rest = tonumber(string.match(lease, '^%d%d%d%d%d%d%d%d%d%d%d%d%d', 41))
  if kind == 'E' and count and rest then
    local outcome = string.sub(lease, 54)
    if ARGV[8] ~= '' and token == ARGV[8] and outcome ~= '' and now - at <= 2000 then
      return {'outcome', now, 0, outcome}
    end
    if ARGV[7] == '1' and rest > now then return {'resting', now, rest - now, ''} end
    failures = count
  end
end
if ARGV[4] == '1' then return {'free', now, 0, ''} end
redis.call('SET', KEYS[2], 'L' .. ARGV[1] .. '-' .. failures .. string.format('%013.0f', now) .. ARGV[3], 'PX', ARGV[2])
return {'owner', now, 0, ''}
`,
};
