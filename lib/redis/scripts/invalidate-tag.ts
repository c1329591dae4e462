import type { Script } from './script.js';
import { NEXT_TIME, NOW, TAG, TELL } from './snippets.js';

/**
 * Gives the tag a hard part that no entry carries. Kept for `lifeMs` at least, or as long as it was to be kept or is held
 * off. An invalidation sent twice, known by its random part, changes nothing the second time, but is announced once more: the
 * reply that was lost may have said that it was not.
 */
export const INVALIDATE_TAG: Script = {
  name: 'invalidate_tag',
  numberOfKeys: 1,
  lua: `
-- KEYS: tag
-- ARGV: random, holdOffMs, lifeMs, channel, changed
-- returns {record, now, why it could not be announced (empty: it was)}
${NOW}
${TAG}
${NEXT_TIME}
local isDone = record and string.sub(record, 1, 1) == 'i' and string.sub(record, 15, 25) == ARGV[1]
if not isDone then
  local holdOff = tonumber(ARGV[2])
  local at, heldUntil, soft = now, holdOff > 0 and now + holdOff or 0, digits(0) .. '-----------'
  local life = tonumber(ARGV[3])
  if record then
    at = nextTime(tonumber(string.sub(record, 2, 14)))
    heldUntil = math.max(heldUntil, tonumber(string.sub(record, 26, 38)))
    soft = string.sub(record, 39)
    life = math.max(life, redis.call('PTTL', KEYS[1]))
  end
  record = 'i' .. digits(at) .. ARGV[1] .. digits(heldUntil) .. soft
  redis.call('SET', KEYS[1], record, 'PX', string.format('%.0f', math.max(life, heldUntil - now)))
end
${TELL('ARGV[4]', 'ARGV[5]')}
return {record, now, refusal}
`,
};
