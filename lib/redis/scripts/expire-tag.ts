import type { Script } from './script.js';
import { NEXT_TIME, NOW, TAG, TELL } from './snippets.js';

/** Gives a tag that is there another soft part. Sent twice, it changes nothing the second time, and is announced again. */
export const EXPIRE_TAG: Script = {
  name: 'expire_tag',
  numberOfKeys: 1,
  lua: `
-- KEYS: tag
-- ARGV: random, channel, changed
-- returns {whether the tag is there, now, why it could not be announced (empty: it was, or there was no need)}
${NOW}
${TAG}
${NEXT_TIME}
if not record then return {0, now, ''} end
if string.sub(record, 52) ~= ARGV[1] then
  local at = nextTime(tonumber(string.sub(record, 39, 51)))
  record = string.sub(record, 1, 38) .. digits(at) .. ARGV[1]
  redis.call('SET', KEYS[1], record, 'KEEPTTL')
end
${TELL('ARGV[2]', 'ARGV[3]')}
return {1, now, refusal}
`,
};
