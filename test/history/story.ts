import type { Catalogue, Terms } from './catalogue.js';
import { check } from './check/index.js';
import { historyOf, type History, type Limits } from './history.js';
import type { CallKind, ChangeKind, Happening, HistoryRecord, StoreOpKind } from './records.js';

const TERMS: Terms = {
  ttl: 1_000,
  stale: 0,
  staleIfError: 0,
  lease: 200,
  loadTimeout: 500,
  waitTimeout: 500,
};
const CATALOGUE: Catalogue = {
  k: TERMS,
  tagged: { ...TERMS, tags: ['t'] },
  stale: { ...TERMS, ttl: 100, stale: 100, staleIfError: 500 },
};
const LIMITS: Limits = {
  catalogue: CATALOGUE,
  concurrency: 2,
  maxLag: 100,
  keyLag: 0,
  redisWriteTimeout: 1_000,
};

type Part = readonly HistoryRecord[];
type Span = readonly [begin: number, end?: number];

/** The process that does it, the key, and when. */
type Where = { readonly by?: string; readonly key?: string; readonly at: Span };

const at = (t: number | undefined, process: string, happening: Happening): Part =>
  t === undefined ? [] : [{ t, process, ...happening }];

/** One call; `got`: the load or set whose value it returned. */
export function call(
  id: string,
  { by = 'p0', key = 'k', at: [begin, end] }: Where,
  more: {
    kind?: CallKind;
    got?: string;
    outcome?: string;
    error?: string;
    abortedAt?: number;
    inside?: string;
  } = {},
): Part {
  const { kind = 'load', got, outcome = 'fresh', error, abortedAt, inside } = more;
  const value = got === undefined ? {} : { value: { key, version: 1, load: got } };
  const ended = error === undefined ? { ...value, outcome } : { error: { name: error, message: 'told' } };
  return [
    ...at(begin, by, { kind: 'call.begin', id, key, call: kind, ...(inside !== undefined && { inside }) }),
    ...at(abortedAt, by, { kind: 'call.abort', id }),
    ...at(end, by, { kind: 'call.end', id, ...ended }),
  ];
}

/** One operation of the store. */
export function op(
  id: string,
  what: StoreOpKind,
  { by = 'p0', key = 'k', at: [begin, end] }: Where,
  {
    token = id,
    load,
    reply = 'done',
    error,
  }: { token?: string; load?: string; reply?: string; error?: string } = {},
): Part {
  return [
    ...at(begin, by, { kind: 'store.begin', id, op: what, key, token, ...(load !== undefined && { load }) }),
    ...at(end, by, { kind: 'store.end', id, ...(error === undefined ? { reply } : { error }) }),
  ];
}

interface LoadMore {
  readonly call?: string;
  readonly leased?: boolean;
  readonly reason?: string;
  readonly ok?: boolean;
  readonly signalAt?: number;
  /** What Redis said of its commit. `silent`: it was not heard. Default: `stored`. */
  readonly commit?: 'stored' | 'fenced' | 'silent' | 'none';
}

/** One load, with the grant before it and the commit after it, unless it ran without a lease. */
export function load(id: string, where: Where, more: LoadMore = {}): Part {
  const {
    by = 'p0',
    key = 'k',
    at: [begin, end],
  } = where;
  const { call: caller = '', leased = true, reason = 'miss', ok = true, signalAt, commit = 'stored' } = more;
  const named = { token: id, load: id };
  const writes = leased && ok && commit !== 'none' && end !== undefined;
  return [
    ...(leased
      ? op(`${id}:grant`, 'acquire', { by, key, at: [begin - 2, begin - 1] }, { token: id, reply: 'owner' })
      : []),
    ...at(begin, by, { kind: 'load.begin', id, key, call: caller, leased, reason }),
    ...at(signalAt, by, { kind: 'load.signal', id }),
    ...at(end, by, { kind: 'load.end', id, ok }),
    ...(writes && commit === 'silent' ? op(`${id}:commit`, 'commit', { by, key, at: [end + 1] }, named) : []),
    ...(writes && commit !== 'silent'
      ? op(`${id}:commit`, 'commit', { by, key, at: [end + 1, end + 2] }, { ...named, reply: commit })
      : []),
    ...(leased && !ok && end !== undefined
      ? op(`${id}:release`, 'release', { by, key, at: [end + 1, end + 2] }, { token: id })
      : []),
  ];
}

/** One change, and what it does to the store. */
export function change(
  id: string,
  what: ChangeKind,
  { by = 'p1', key = 'k', at: [begin, end] }: Where,
  more: { tags?: readonly string[]; error?: string; holdOff?: number } = {},
): Part {
  const { tags = [], error, holdOff } = more;
  const ofKey = tags.length === 0 && what !== 'clear';
  const inStore = { invalidate: 'invalidate', set: 'put', expire: 'expire' } as const;
  const stored = ofKey && what in inStore ? inStore[what as keyof typeof inStore] : undefined; // `in` has just said so
  const failed = error === undefined ? {} : { error: { name: error, message: 'told' } };
  return [
    ...at(begin, by, {
      kind: 'change.begin',
      id,
      change: what,
      keys: ofKey ? [key] : [],
      tags,
      version: 2,
      ...(holdOff !== undefined && { holdOff }),
    }),
    ...(stored
      ? op(
          `${id}:op`,
          stored,
          { by, key, at: [begin + 0.1, end === undefined ? undefined : end - 0.1] },
          error === undefined ? {} : { error },
        )
      : []),
    ...at(end, by, { kind: 'change.end', id, ...failed }),
  ];
}

export function fault(
  process: string,
  what: Extract<Happening, { kind: 'fault' }>['fault'],
  t: number,
): Part {
  return at(t, process, { kind: 'fault', fault: what });
}

/** A history written by hand. */
export function told(...parts: readonly Part[]): History {
  const born = ['p0', 'p1'].flatMap((process) => fault(process, 'born', -1_000));
  return historyOf(
    [...born, ...parts.flat()].sort((a, b) => a.t - b.t),
    LIMITS,
  );
}

/** The rules that it breaks, each once. */
export function broken(...parts: readonly Part[]): string[] {
  return [...new Set(check(told(...parts)).violations.map(({ rule }) => rule))].sort();
}
