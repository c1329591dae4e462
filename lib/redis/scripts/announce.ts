import { LONGEST_VARIANT_MS } from './bounds.js';
import type { Script } from './script.js';
import { NOW, VALUE } from './snippets.js';

/**
 * Enters a variant in the list of its name, a line `<end> <variant>` each. Drops those that have ended, and those that no
 * build wrote: an absurd end would make a life that Redis refuses, and nobody could announce anything any more.
 */
export const ANNOUNCE: Script = {
  name: 'announce',
  numberOfKeys: 1,
  lua: `
-- KEYS: variants
-- ARGV: variant, lifeMs
-- returns {how many are listed, now}
${NOW}
${VALUE}
local mine = now + tonumber(ARGV[2])
local latest = mine
local lines = {}
for line in string.gmatch(value or '', '[^\\n]+') do
  local till, variant = string.match(line, '^(%d+) ([!-~]+)$')
  local ends = till and tonumber(till) or 0
  if ends > now and ends - now <= ${LONGEST_VARIANT_MS} then
    if variant == ARGV[1] then
      mine = math.max(mine, ends)
    else
      lines[#lines + 1] = string.format('%.0f %s\\n', ends, variant)
    end
    latest = math.max(latest, ends)
  end
end
lines[#lines + 1] = string.format('%.0f %s\\n', mine, ARGV[1])
redis.call('SET', KEYS[1], table.concat(lines), 'PX', string.format('%.0f', latest - now))
return {#lines, now}
`,
};
