import { END_LEASE } from './revoke.js';
import type { Script } from './script.js';
import { leaseAt, NOW } from './snippets.js';

/** Drops the lease, or puts a hold-off in its place, then the entry: a load begun before can never publish. */
export const INVALIDATE: Script = {
  name: 'invalidate',
  numberOfKeys: 2,
  lua: `
-- KEYS: data, lease
-- ARGV: holdOffMs, channel, invalidated
-- returns {how many entries were dropped (0 or 1), now}
${NOW}
${leaseAt('KEYS[2]')}
${END_LEASE('KEYS[2]', 'tonumber(ARGV[1])')}
local dropped = redis.call('UNLINK', KEYS[1])
redis.pcall('PUBLISH', ARGV[2], ARGV[3])
return {dropped, now}
`,
};
