/**
 * The value of a lease key, ASCII up to the outcome. Scripts write and judge it; here it is only read, for inspection.
 *
 * | bytes | live lease | ended record | hold-off |
 * | --- | --- | --- | --- |
 * | 0 | `L` | `E` | `H` |
 * | 1–22 | token | token of the lease that ended | 1–13: until when nothing may be stored, server ms; the end |
 * | 23 | `w` contended, `-` not | `-` | |
 * | 24–26 | failed loads in a row so far, 3 digits | the same | |
 * | 27–39 | since, server ms, 13 digits | ended at | |
 * | 40–52 | holder, to the end | refreshes rest until, 0 = they don't | |
 * | 53– | | outcome for those who waited, may be empty | |
 *
 * Anything else counts as no lease.
 */
const LIVE = /^L[\w-]{22}[w-]\d{3}(\d{13})(.*)$/s;

export interface LiveLease {
  readonly holder: string;
  readonly since: number;
}

export function parseLiveLease(value: string): LiveLease | undefined {
  const [, since, holder] = LIVE.exec(value) ?? [];
  return since === undefined || holder === undefined ? undefined : { since: Number(since), holder };
}
