import type { Violation } from './check/index.js';
import type { History } from './history.js';
import type { HistoryRecord } from './records.js';

const MOST_LINES = 60;
const MARGIN = 1;

/**
 * The records that show a violation, in the order of their times, one a line: those of its key in the span concerned, and
 * what happened to the processes meanwhile. A `>` marks what the violation is about. Times are ms since the span's begin.
 */
export function excerpt(history: History, violation: Violation): string {
  const { key, from, to, about } = violation;
  const ids = new Set(about.filter((id) => id !== ''));
  const near = history.records.filter(
    (record) => concerns(history, record, key) && record.t >= from - MARGIN && record.t <= to + MARGIN,
  );
  const named = history.records.filter((record) => 'id' in record && ids.has(record.id));
  const all = [...new Set([...near, ...named])].sort((a, b) => a.t - b.t);
  const lines = shorten(all, ids).map((record) => line(record, from, ids));
  return [`guarantee ${violation.rule}, key ${key}: ${violation.message}`, ...lines].join('\n');
}

function shorten(records: readonly HistoryRecord[], ids: ReadonlySet<string>): readonly HistoryRecord[] {
  if (records.length <= MOST_LINES) return records;
  const isNamed = (record: HistoryRecord): boolean => 'id' in record && ids.has(record.id);
  const important = records.filter((record) => isNamed(record) || /^(change|load|fault)/.test(record.kind));
  return important.length <= MOST_LINES ? important : records.filter(isNamed);
}

function concerns(history: History, record: HistoryRecord, key: string): boolean {
  if (record.kind === 'fault') return record.fault !== 'born';
  if (record.kind === 'event') return record.key === key || record.event === 'lag';
  const { id } = record;
  const one = history.calls.get(id) ?? history.loads.get(id) ?? history.storeOps.get(id);
  if (one) return one.key === key;
  const change = history.changes.get(id);
  if (!change) return false;
  const terms = history.limits.catalogue[key];
  const tags = [...(terms?.tags ?? []), ...(terms?.valueTags ?? [])];
  return (
    change.kind === 'clear' || change.keys.includes(key) || change.tags.some((tag) => tags.includes(tag))
  );
}

function line(record: HistoryRecord, from: number, ids: ReadonlySet<string>): string {
  const { t, process, kind, ...details } = record;
  const mark = 'id' in record && ids.has(record.id) ? '>' : ' ';
  const words = Object.entries(details)
    .filter(([name, value]) => name !== 'key' && value !== undefined && value !== '')
    .map(([name, value]) => `${name}=${typeof value === 'object' ? JSON.stringify(value) : String(value)}`);
  return `${mark} ${(t - from).toFixed(3).padStart(10)} ${process.padEnd(6)} ${kind.padEnd(12)} ${words.join(' ')}`;
}
