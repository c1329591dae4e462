import { keysOf } from './check/barriers.js';
import { endOf } from './check/single-load.js';
import { groupBy } from './group.js';
import type { History } from './history.js';

/** What a run did: how hard it tried. */
export interface Figures {
  operations: number;
  reads: number;
  loads: number;
  blindLoads: number;
  failedLoads: number;
  changes: number;
  failedChanges: number;
  kills: number;
  stops: number;
  cuts: number;
  fenced: number;
  /** Changes that overlapped a running load of their key. */
  inFlight: number;
}

export function figuresOf(history: History): Figures {
  const calls = [...history.calls.values()];
  const loads = [...history.loads.values()];
  const changes = [...history.changes.values()];
  const lives = [...history.lives.values()];
  return {
    operations: calls.length + changes.length,
    reads: calls.filter(({ end }) => end !== undefined).length,
    loads: loads.length,
    blindLoads: loads.filter(({ reason }) => reason === 'redis_down').length,
    failedLoads: loads.filter(({ ok }) => ok !== true).length,
    changes: changes.length,
    failedChanges: changes.filter(({ error }) => error).length,
    kills: lives.filter(({ killedAt }) => killedAt !== undefined).length,
    stops: lives.reduce((sum, { stops }) => sum + stops.length, 0),
    cuts: lives.reduce((sum, { cuts }) => sum + cuts.length, 0),
    fenced: history.records.filter((record) => record.kind === 'event' && record.event === 'fenced').length,
    inFlight: inFlight(history),
  };
}

function inFlight(history: History): number {
  const loads = groupBy(history.loads.values(), ({ key }) => key);
  let count = 0;
  for (const change of history.changes.values()) {
    if (change.kind === 'set' || change.end === undefined || change.error) continue;
    const { begin, end } = change;
    const meets = keysOf(change, history).some((key) =>
      (loads.get(key) ?? []).some((load) => load.begin < begin && endOf(load, history) > end),
    );
    if (meets) count += 1;
  }
  return count;
}

export function sum(all: readonly Figures[]): Figures {
  const zero: Figures = {
    operations: 0,
    reads: 0,
    loads: 0,
    blindLoads: 0,
    failedLoads: 0,
    changes: 0,
    failedChanges: 0,
    kills: 0,
    stops: 0,
    cuts: 0,
    fenced: 0,
    inFlight: 0,
  };
  const names = Object.keys(zero) as (keyof Figures)[]; // the keys of a record are its names
  for (const figures of all) for (const name of names) zero[name] += figures[name];
  return zero;
}

/** What a run must have done at least to prove anything; scaled for a brief one. */
export interface Least {
  readonly fenced: number;
  readonly kills: number;
  readonly inFlight: number;
}

export const LONG_RUN: Least = { fenced: 100, kills: 20, inFlight: 20 };
export const BRIEF_RUN: Least = { fenced: 10, kills: 2, inFlight: 10 };

/** Why a run proves nothing; empty: it does. */
export function vacuity(figures: Figures, least: Least): string[] {
  const names = Object.keys(least) as (keyof Least)[]; // as above
  return names
    .filter((name) => figures[name] < least[name])
    .map((name) => `only ${figures[name]} ${name}, at least ${least[name]} are needed`);
}
