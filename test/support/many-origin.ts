import type { LoadManyContext } from '../../lib/core/batch/index.js';
import { until } from './until.js';

/** One call of the loader. */
export interface ManyLoad {
  readonly ids: readonly unknown[];
  readonly ctx: LoadManyContext;
  resolve(values: unknown): void;
  reject(error: unknown): void;
}

/** A data source of many rows at once under the test's hand: ends each call when told to. */
export class ManyOrigin {
  readonly loads: ManyLoad[] = [];

  /** The loader to hand in. Hangs until the test ends it. */
  readonly load = (ids: never[], ctx: LoadManyContext): Promise<unknown> =>
    new Promise((resolve, reject) => {
      this.loads.push({ ids, ctx, resolve, reject });
    });

  /** The ids of each call, in the order of the calls. */
  get asked(): readonly (readonly unknown[])[] {
    return this.loads.map(({ ids }) => ids);
  }

  /** Waits for call number `index`, from 0. */
  async started(index: number): Promise<ManyLoad> {
    await until(() => this.loads.length > index, { what: `call ${index} of the loader` });
    return this.loads[index] as ManyLoad;
  }

  /** Ends call number `index` with `v<id>` for each of its ids, but for those in `without`. */
  async give(index: number, without: readonly unknown[] = []): Promise<void> {
    const load = await this.started(index);
    load.resolve(rowsOf(load.ids.filter((id) => !without.includes(id))));
  }
}

/** `v<id>` by id. */
export function rowsOf(ids: readonly unknown[]): Map<unknown, string> {
  return new Map(ids.map((id) => [id, `v${String(id)}`]));
}
