import { END_LEASE } from './revoke.js';
import type { Script } from './script.js';
import { HEAD, leaseAt, NOW } from './snippets.js';

/** `expired`: whether the entry, which was fresh, is stale as of now. Its life stays. */
const EXPIRE_ENTRY = `
local expired = 0
${HEAD}
local softAt = #head == 68 and tonumber(string.match(head, '^2...(%d%d%d%d%d%d%d%d%d%d%d%d%d)')) or 0
if softAt > now then
  redis.call('SETRANGE', KEYS[1], 4, string.format('%013.0f', now))
  expired = 1
end`;

/** Makes a fresh entry stale; drops the lease, or the rest after a failure: the change may have mended its cause. */
export const EXPIRE: Script = {
  name: 'expire',
  numberOfKeys: 2,
  lua: `
-- KEYS: data, lease
-- ARGV: channel, invalidated
-- returns {how many entries became stale (0 or 1), now}
${NOW}
${leaseAt('KEYS[2]')}
${END_LEASE('KEYS[2]', '0')}
${EXPIRE_ENTRY}
redis.pcall('PUBLISH', ARGV[1], ARGV[2])
return {expired, now}
`,
};

/** The half of an expiry that concerns the entry, for while a slot moves and two keys can't be had at once. */
export const STALE: Script = {
  name: 'stale',
  numberOfKeys: 1,
  lua: `
-- KEYS: data
-- ARGV: none
-- returns {how many entries became stale (0 or 1), now}
${NOW}
${EXPIRE_ENTRY}
return {expired, now}
`,
};
