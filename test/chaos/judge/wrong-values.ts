import { groupBy } from '../../history/group.js';
import type { CallRecord, ChangeRecord, Chronicle, IllnessRecord, LoadRecord } from '../records.js';
import { MAX_LAG, REDIS_WRITE_TIMEOUT } from '../terms.js';

export interface WrongValue {
  readonly what: string;
  readonly call: CallRecord;
}

export interface WrongValues {
  readonly wrong: readonly WrongValue[];
  /** Values that were held against a change. */
  readonly judged: number;
  /** Left out, by reason. */
  readonly excused: { lostWrite: number; joined: number };
}

/** What a change means for one key. */
interface KeyChange {
  readonly change: ChangeRecord;
  readonly version: number;
}

const MOMENT = 2;

/** A value of another key, one that the origin never gave, one that is older than an acknowledged change allows. */
export function wrongValues({ reports, illnesses }: Chronicle): WrongValues {
  const changes = byKey(reports.flatMap((report) => report.changes));
  const loads = new Map(reports.flatMap((report) => report.loads.map((load) => [load.id, load])));
  const excused = { lostWrite: 0, joined: 0 };
  const wrong: WrongValue[] = [];
  let judged = 0;
  for (const call of reports.flatMap((report) => report.calls)) {
    if (call.outcome === undefined) continue;
    const { row, key } = call;
    if (row?.key !== key) {
      wrong.push({ what: `a value of ${String(row?.key)}`, call });
      continue;
    }
    const ofKey = changes.get(key) ?? [];
    if (ofKey.length > 0) judged += 1;
    if (!(row.version <= (ofKey[0]?.version ?? 0)))
      wrong.push({ what: `version ${row.version} of nowhere`, call });
    const broken = ofKey.filter((it) => isOlder(call, it));
    if (broken.length === 0) continue;
    const left = broken.filter(({ change }) => !isLost(change, illnesses));
    const load = loads.get(row.load);
    const unexcused = left.find(({ change }) => !hadJoined(call, change, load, illnesses));
    if (unexcused) wrong.push({ what: `older than version ${unexcused.version}, acknowledged before`, call });
    else if (left.length > 0) excused.joined += 1;
    else excused.lostWrite += 1;
  }
  return { wrong, judged, excused };
}

/** Whether guarantee 3 speaks against the call's value. */
function isOlder(call: CallRecord, { change, version }: KeyChange): boolean {
  if (change.error !== undefined || call.row === undefined || call.row.version >= version) return false;
  // By tag, other processes may take their time.
  const lag = change.by === 'tag' && change.process !== call.process ? MAX_LAG : 0;
  return call.begin > change.end + lag;
}

/** Acknowledged by a server that died with it. */
function isLost({ begin, end }: ChangeRecord, illnesses: readonly IllnessRecord[]): boolean {
  return illnesses.some(({ lost }) => lost !== undefined && end > lost.from && begin < lost.to);
}

/** It joined a load of its own process, while that process could not reach Redis. Never against its own change. */
function hadJoined(
  call: CallRecord,
  change: ChangeRecord,
  load: LoadRecord | undefined,
  illnesses: readonly IllnessRecord[],
): boolean {
  if (load?.process !== call.process || change.process === call.process) return false;
  const end = load.end ?? Infinity;
  // Nobody joins a load that is over. Its record may be a moment older than what the cache knows.
  if (call.begin > end + MOMENT) return false;
  if (!load.leased) return true;
  // It had its lease, but its commit may have got no answer.
  return illnesses.some(({ begin, healed }) => load.begin < healed && end + REDIS_WRITE_TIMEOUT > begin);
}

function byKey(changes: readonly ChangeRecord[]): Map<string, KeyChange[]> {
  const flat = changes.flatMap((change) =>
    Object.entries(change.versions).map(([key, version]) => ({ key, change, version })),
  );
  const groups = groupBy(flat, ({ key }) => key);
  return new Map([...groups].map(([key, all]) => [key, all.sort((a, b) => b.version - a.version)]));
}
