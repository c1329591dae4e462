import type { Catalogue } from './catalogue.js';
import type { CallKind, ChangeKind, ErrorNote, HistoryRecord, Row, StoreOpKind } from './records.js';

/** One call of one caller. Without an `end` its process died, or it never settled. */
export interface Call {
  readonly id: string;
  readonly process: string;
  readonly key: string;
  readonly kind: CallKind;
  /** The load that makes it. */
  readonly inside: string | undefined;
  readonly begin: number;
  end?: number;
  abortedAt?: number;
  value?: Row;
  outcome?: string;
  error?: ErrorNote;
}

export interface Load {
  readonly id: string;
  readonly process: string;
  readonly key: string;
  readonly variant: string;
  /** The call whose loader ran. */
  readonly call: string;
  readonly leased: boolean;
  readonly reason: string;
  readonly begin: number;
  version?: number;
  signalAt?: number;
  end?: number;
  ok?: boolean;
  /** The writing of its value. */
  commit?: StoreOp;
}

export interface Change {
  readonly id: string;
  readonly process: string;
  readonly kind: ChangeKind;
  readonly keys: readonly string[];
  readonly tags: readonly string[];
  readonly version: number;
  readonly holdOff: number;
  readonly begin: number;
  end?: number;
  error?: ErrorNote;
}

export interface StoreOp {
  readonly id: string;
  readonly process: string;
  readonly op: StoreOpKind;
  readonly key: string;
  readonly variant: string;
  readonly token: string;
  readonly load: string | undefined;
  readonly probe: boolean;
  readonly begin: number;
  end?: number;
  reply?: string;
  error?: string;
}

/** What became of one process. */
export interface Life {
  readonly process: string;
  readonly stops: { readonly from: number; to: number }[];
  readonly lags: { readonly from: number; readonly to: number }[];
  /** Times in which it waited for answers of Redis that did not come, or too late. */
  readonly unheard: { readonly from: number; readonly to: number }[];
  readonly cuts: number[];
  killedAt?: number;
  /** Asked to finish what it did, and waited for. */
  quietAt?: number;
}

export interface Limits {
  readonly catalogue: Catalogue;
  /** Loads at once in one process. */
  readonly concurrency: number;
  readonly maxLag: number;
  /** How late a change of a key is heeded in other processes: not at all, or by `maxLag` where they keep copies. */
  readonly keyLag: number;
  readonly redisWriteTimeout: number;
}

/** The records, put together by what they are about. */
export interface History {
  readonly limits: Limits;
  readonly records: readonly HistoryRecord[];
  readonly calls: ReadonlyMap<string, Call>;
  readonly loads: ReadonlyMap<string, Load>;
  readonly changes: ReadonlyMap<string, Change>;
  readonly storeOps: ReadonlyMap<string, StoreOp>;
  readonly lives: ReadonlyMap<string, Life>;
}

/** `records`: in the order of their times. */
export function historyOf(records: readonly HistoryRecord[], limits: Limits): History {
  const builder = new Builder();
  for (const record of records) builder.add(record);
  for (const op of builder.storeOps.values()) {
    const load = op.load === undefined ? undefined : builder.loads.get(op.load);
    if (load && (op.op === 'commit' || op.op === 'write')) load.commit = op;
  }
  const { calls, loads, changes, storeOps, lives } = builder;
  return { limits, records, calls, loads, changes, storeOps, lives };
}

class Builder {
  readonly calls = new Map<string, Call>();
  readonly loads = new Map<string, Load>();
  readonly changes = new Map<string, Change>();
  readonly storeOps = new Map<string, StoreOp>();
  readonly lives = new Map<string, Life>();

  add(record: HistoryRecord): void {
    const { t, process } = record;
    switch (record.kind) {
      case 'call.begin': {
        const { id, key, call, inside } = record;
        this.calls.set(id, { id, process, key, kind: call, inside, begin: t });
        return;
      }
      case 'call.abort':
        return edit(this.calls, record.id, { abortedAt: t });
      case 'call.end': {
        const { value, outcome, error } = record;
        return edit(this.calls, record.id, { end: t, value, outcome, error });
      }
      case 'load.begin': {
        const { id, key, variant = '', call, leased, reason } = record;
        this.loads.set(id, { id, process, key, variant, call, leased, reason, begin: t });
        return;
      }
      case 'load.row':
        return edit(this.loads, record.id, { version: record.version });
      case 'load.signal':
        return edit(this.loads, record.id, { signalAt: t });
      case 'load.end':
        return edit(this.loads, record.id, { end: t, ok: record.ok });
      case 'change.begin': {
        const { id, change, keys, tags, version, holdOff = 0 } = record;
        this.changes.set(id, { id, process, kind: change, keys, tags, version, holdOff, begin: t });
        return;
      }
      case 'change.end':
        return edit(this.changes, record.id, { end: t, error: record.error });
      case 'store.begin': {
        const { id, op, key, variant = '', token, load, probe = false } = record;
        this.storeOps.set(id, { id, process, op, key, variant, token, load, probe, begin: t });
        return;
      }
      case 'store.end':
        return edit(this.storeOps, record.id, { end: t, reply: record.reply, error: record.error });
      case 'event':
        this.event(this.life(process), record.event, t, record.ms ?? 0);
        return;
      case 'fault':
        this.fault(this.life(process), record.fault, t);
    }
  }

  private life(process: string): Life {
    const known = this.lives.get(process);
    if (known) return known;
    const life: Life = { process, stops: [], lags: [], unheard: [], cuts: [] };
    this.lives.set(process, life);
    return life;
  }

  private event(life: Life, event: string, t: number, ms: number): void {
    if (event === 'lag') life.lags.push({ from: t - ms, to: t });
    if (event === 'unheard') life.unheard.push({ from: t - ms, to: t });
  }

  private fault(life: Life, fault: string, t: number): void {
    const last = life.stops.at(-1);
    if (fault === 'kill') life.killedAt = t;
    else if (fault === 'quiet') life.quietAt = t;
    else if (fault === 'cut') life.cuts.push(t);
    else if (fault === 'stop') life.stops.push({ from: t, to: Infinity });
    else if (fault === 'cont' && last) last.to = t;
  }
}

/** What one lease is about: entries of different versions have leases of their own. */
export const slotOf = ({ key, variant }: { readonly key: string; readonly variant: string }): string =>
  `${key} ${variant}`;

function edit<T extends object>(all: ReadonlyMap<string, T>, id: string, more: Partial<T>): void {
  const one = all.get(id);
  if (one) Object.assign(one, more);
}
