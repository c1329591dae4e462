import type { Script } from './script.js';
import { NOW, TAG } from './snippets.js';

/** The tag as it stands before a load that depends on it; created if absent, kept for at least as long as asked for. */
export const HOLD_TAG: Script = {
  name: 'hold_tag',
  numberOfKeys: 1,
  lua: `
-- KEYS: tag
-- ARGV: random, lifeMs
-- returns {record, now}
${NOW}
${TAG}
if not record then
  record = 'c' .. digits(now) .. ARGV[1] .. digits(0) .. digits(0) .. '-----------'
  redis.call('SET', KEYS[1], record, 'PX', ARGV[2])
elseif redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return {record, now}
`,
};
