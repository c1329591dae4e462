import { AHEAD_MS, LONGEST_HOLD_OFF_MS } from './bounds.js';

/** `now`: the server's time, ms. */
export const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** `heldUntil`: until when the hold-off in `lease` stands, 0: there is none. */
export const HELD_UNTIL = `
local heldUntil = lease and tonumber(string.match(lease, '^H(%d%d%d%d%d%d%d%d%d%d%d%d%d)$')) or 0
if heldUntil <= now then heldUntil = 0 end`;

/** `contended`: whether somebody waits for the lease. */
export const CONTENDED = `
local contended = lease and string.sub(lease, 1, 1) == 'L' and string.sub(lease, 24, 24) == 'w'`;

/**
 * `name`: what `read` returns of a string, or `absent`. A key of another type is not ours and counts as absent: reading it must
 * not fail, and what is written replaces it.
 */
const ours = (name: string, read: string, absent: string): string => `
local ${name} = redis.pcall(${read})
if type(${name}) == 'table' then
  if not string.find(${name}.err, 'WRONGTYPE', 1, true) then return ${name} end
  ${name} = ${absent}
end`;

/** `value`: the string at the only key, or false. */
export const VALUE = ours('value', "'GET', KEYS[1]", 'false');

/** `lease`: the string at the key of the lease, or false. */
export const leaseAt = (key: string): string => ours('lease', `'GET', ${key}`, 'false');

/** `head`: as much of the entry as a script needs to judge it; empty where there is none. */
export const HEAD = ours('head', "'GETRANGE', KEYS[1], 0, 67", "''");

/** `id`: that of the entry; empty where there is none. */
export const ID = ours('id', "'GETRANGE', KEYS[1], 46, 67", "''");

const TIME = `(${'%d'.repeat(13)})`;
const CHANCE = '[A-Za-z0-9_-]'.repeat(11);

/**
 * `record`: the tag as it stands, or false; `digits` writes a time. Only a whole record counts, with times that may be: what
 * the client would refuse to read is replaced like a tag that is absent.
 */
export const TAG = `
local function digits(ms) return string.format('%013.0f', ms) end
${VALUE}
local record = value
if record then
  local at, heldUntil, softAt = string.match(record, '^[ci]${TIME}${CHANCE}${TIME}${TIME}${CHANCE}$')
  if not at or math.max(at, softAt) > now + ${AHEAD_MS} or heldUntil - now > ${LONGEST_HOLD_OFF_MS + AHEAD_MS} then
    record = false
  end
end`;

/** `refusal`: why the server would not PUBLISH `record`, empty: it did. The change stands either way. */
export const TELL = (channel: string, message: string): string => `
local told = redis.pcall('PUBLISH', ${channel}, ${message} .. record)
local refusal = type(told) == 'table' and told.err or ''`;

/**
 * `eachEpoch(text, use)` calls `use(epoch, random, scope)` for each line that may be one; line by line, as one pattern over
 * all of it would take quadratic time on bytes that are not ours. An epoch that is absurdly far ahead is left out, hence
 * dropped by whoever writes the lines again: no entry could ever reach it. `dropped`: how many lines were left out.
 */
export const EACH_EPOCH = `
local dropped = 0
local function eachEpoch(text, use)
  for line in string.gmatch(text, '[^\\n]+') do
    local epoch, random, scope = string.match(line, '^(%d+) (%S+) (".*")$')
    if epoch and tonumber(epoch) <= now + ${AHEAD_MS} then
      use(tonumber(epoch), random, scope)
    else
      dropped = dropped + 1
    end
  end
end`;

/**
 * `nextTime(last)`: now, or just after `last`. A change that runs once more in the same millisecond, with another one in
 * between, must not bring an earlier value back. A clock that was set back far is followed.
 */
export const NEXT_TIME = `
local function nextTime(last)
  if last >= now and last - now < 1000 then return last + 1 end
  return now
end`;
