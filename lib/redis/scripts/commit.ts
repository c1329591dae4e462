import type { Script } from './script.js';
import { HEAD, ID, leaseAt, NOW } from './snippets.js';

/** The 16 digits at byte 30 of an entry. */
const SOURCE_VERSION = `^2${'.'.repeat(29)}(${'%d'.repeat(16)})`;

/**
 * Publishes the staged entry, if the lease still stands and no entry of a greater source version is there; that of an entry
 * which was found unusable binds nobody. The mark of success is the entry's own id, so a resend is recognised. PUBLISH comes
 * last and through pcall: a user without the right to it gets no error after the fact.
 */
export const COMMIT: Script = {
  name: 'commit',
  numberOfKeys: 3,
  lua: `
-- KEYS: data, lease, staged
-- ARGV: token, hardMs, channel, published, ended, sourceVersion (16 digits, empty: none), rejectedId
-- returns {code, now}: 0 fenced | 1 stored | 2 already stored by this token | 3 nothing was staged, the lease is released
--   | 4 an entry with a greater source version is there, the lease is kept
${NOW}
${leaseAt('KEYS[2]')}
if not lease or string.sub(lease, 1, 23) ~= 'L' .. ARGV[1] then
  redis.call('UNLINK', KEYS[3])
  ${ID}
  if id == ARGV[1] then return {2, now} end
  return {0, now}
end
local contended = string.sub(lease, 24, 24) == 'w'
if redis.call('EXISTS', KEYS[3]) == 0 then
  redis.call('DEL', KEYS[2])
  if contended then redis.pcall('PUBLISH', ARGV[3], ARGV[5]) end
  return {3, now}
end
if ARGV[6] ~= '' then
  ${HEAD}
  local there = #head == 68 and string.match(head, '${SOURCE_VERSION}')
  -- Of one width, so text compares as the numbers would; as numbers they may exceed what Lua tells apart.
  if there and there > ARGV[6] and string.sub(head, 47) ~= ARGV[7] then
    redis.call('UNLINK', KEYS[3])
    return {4, now}
  end
end
redis.call('RENAME', KEYS[3], KEYS[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
redis.call('DEL', KEYS[2])
if contended then redis.pcall('PUBLISH', ARGV[3], ARGV[4]) end
return {1, now}
`,
};
