import { until } from './until.js';

interface Pending {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** A data source under the test's hand: counts its loads, and ends each when told to. */
export class Origin {
  starts = 0;
  peak = 0;
  private readonly pending: Pending[] = [];

  /** The loader to hand in. Hangs until `give` or `fail`. */
  readonly load = (): Promise<unknown> => {
    this.starts += 1;
    return new Promise((resolve, reject) => {
      this.pending.push({ resolve, reject });
      this.peak = Math.max(this.peak, this.pending.length);
    });
  };

  get running(): number {
    return this.pending.length;
  }

  /** Ends the oldest load under way; waits for one to begin. */
  async give(value: unknown): Promise<void> {
    (await this.oldest()).resolve(value);
  }

  async fail(error: unknown): Promise<void> {
    (await this.oldest()).reject(error);
  }

  /** Waits until so many loads have begun in all. */
  async started(count: number): Promise<void> {
    await until(() => this.starts >= count, { what: `${count} loads to begin` });
  }

  private async oldest(): Promise<Pending> {
    await until(() => this.pending.length > 0, { what: 'a load to begin' });
    return this.pending.shift() as Pending;
  }
}
