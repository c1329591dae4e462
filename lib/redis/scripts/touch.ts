import type { Script } from './script.js';
import { ID, leaseAt } from './snippets.js';

/** Gives the stored entry a new head (id, soft expiry) under the lease; the payload stays where it is. */
export const TOUCH: Script = {
  name: 'touch',
  numberOfKeys: 2,
  lua: `
-- KEYS: data, lease
-- ARGV: token, entryId, head, hardMs, channel, published
-- returns 0 fenced | 1 stored | 2 already stored by this token | 3 another entry or none is there, the lease is kept
${ID}
${leaseAt('KEYS[2]')}
if not lease or string.sub(lease, 1, 23) ~= 'L' .. ARGV[1] then
  if id == ARGV[1] then return 2 end
  return 0
end
if id ~= ARGV[2] or #id ~= 22 then return 3 end
redis.call('SETRANGE', KEYS[1], 0, ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
redis.call('DEL', KEYS[2])
if string.sub(lease, 24, 24) == 'w' then redis.pcall('PUBLISH', ARGV[5], ARGV[6]) end
return 1
`,
};
