import type { Script } from './script.js';

/** Drops the lease, then the entry: a load begun before can never publish. */
export const INVALIDATE: Script = {
  name: 'invalidate',
  numberOfKeys: 2,
  lua: `
-- KEYS: data, lease
-- ARGV: channel, invalidated
-- returns how many entries were dropped, 0 or 1
local lease = redis.call('GET', KEYS[2])
redis.call('DEL', KEYS[2])
local dropped = redis.call('UNLINK', KEYS[1])
if lease and string.match(lease, '^L') and string.sub(lease, 24, 24) == 'w' then
  redis.pcall('PUBLISH', ARGV[1], ARGV[2])
end
return dropped
`,
};
