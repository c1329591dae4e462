import type { Script } from './script.js';
import { EACH_EPOCH, NOW, VALUE } from './snippets.js';

/** Brings back epochs that the server lost, and drops what is no epoch. None is ever lowered. */
export const RAISE_EPOCHS: Script = {
  name: 'raise_epochs',
  numberOfKeys: 1,
  lua: `
-- KEYS: epochs
-- ARGV: known (lines; empty: only what is no epoch is dropped)
-- returns {how many were raised, now}
${NOW}
${VALUE}
${EACH_EPOCH}
local atLeast = {}
eachEpoch(ARGV[1], function(epoch, _, scope) atLeast[scope] = epoch end)
local raised = 0
local lines = {}
local function raise(scope, epoch)
  raised = raised + 1
  lines[#lines + 1] = string.format('%.0f - %s\\n', epoch, scope)
end
dropped = 0
eachEpoch(value or '', function(epoch, random, scope)
  if (atLeast[scope] or 0) > epoch then
    raise(scope, atLeast[scope])
  else
    lines[#lines + 1] = string.format('%.0f %s %s\\n', epoch, random, scope)
  end
  atLeast[scope] = nil
end)
for scope, epoch in pairs(atLeast) do raise(scope, epoch) end
if raised == 0 and dropped == 0 then return {0, now} end
if #lines > 0 then
  redis.call('SET', KEYS[1], table.concat(lines))
else
  redis.call('DEL', KEYS[1])
end
return {raised, now}
`,
};
