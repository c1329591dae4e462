/** What the calls of a closed loop came to. */
export interface LoopResult {
  readonly calls: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly errors: readonly string[];
  /** Calls that did not get an answer from the store: when they began and ended, and how. */
  readonly waits: readonly Wait[];
  /** Completions of the first answers by the serial of the load they carry. */
  readonly firstSeen: Readonly<Record<number, number>>;
  readonly p99: number;
  readonly max: number;
}

export interface Wait {
  readonly outcome: string;
  readonly began: number;
  readonly ended: number;
}

const FROM_STORE = new Set(['fresh', 'stale', 'early', 'negative']);

/** Counts the calls of one process. */
export class Tally {
  private readonly outcomes: Record<string, number> = {};
  private readonly errors: string[] = [];
  private readonly waits: Wait[] = [];
  private readonly firstSeen: Record<number, number> = {};
  private readonly latencies: number[] = [];

  add(outcome: string, began: number, ended: number, serial: number): void {
    this.outcomes[outcome] = (this.outcomes[outcome] ?? 0) + 1;
    this.firstSeen[serial] ??= ended;
    if (FROM_STORE.has(outcome)) this.latencies.push(ended - began);
    else this.waits.push({ outcome, began, ended });
  }

  fail(error: unknown): void {
    this.errors.push(String(error));
  }

  result(): LoopResult {
    const sorted = this.latencies.sort((a, b) => a - b);
    const { outcomes, errors, waits, firstSeen } = this;
    return {
      calls: sorted.length + waits.length + errors.length,
      outcomes,
      errors,
      waits,
      firstSeen,
      p99: quantile(sorted, 0.99),
      max: quantile(sorted, 1),
    };
  }
}

/** Nearest rank. `sorted` ascending; NaN of nothing. */
export function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * q) - 1)] ?? NaN;
}

export function median(values: readonly number[]): number {
  return quantile(
    [...values].sort((a, b) => a - b),
    0.5,
  );
}
