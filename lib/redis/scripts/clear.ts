import type { Script } from './script.js';
import { EACH_EPOCH, NOW, VALUE } from './snippets.js';

/**
 * Raises the epoch of one scope above those of all. The key has no life: what is absent counts as never cleared. A resend
 * changes nothing. A PUBLISH that is refused may be: epochs are asked for again and again.
 */
export const CLEAR: Script = {
  name: 'clear',
  numberOfKeys: 1,
  lua: `
-- KEYS: epochs
-- ARGV: scope, random, channel, cleared
-- returns {epoch, now}
${NOW}
${VALUE}
${EACH_EPOCH}
local epoch = now
local done
local lines = {}
eachEpoch(value or '', function(known, random, scope)
  if scope ~= ARGV[1] then
    lines[#lines + 1] = string.format('%.0f %s %s\\n', known, random, scope)
  elseif random == ARGV[2] then
    done = known
  end
  epoch = math.max(epoch, known + 1)
end)
if done then return {done, now} end
lines[#lines + 1] = string.format('%.0f %s %s\\n', epoch, ARGV[2], ARGV[1])
redis.call('SET', KEYS[1], table.concat(lines))
redis.pcall('PUBLISH', ARGV[3], ARGV[4] .. string.format('%.0f', epoch))
return {epoch, now}
`,
};
