import { setTimeout as delay } from 'node:timers/promises';
import { machineNow } from '../history/clock.js';
import { Origin as Rows } from '../history/origin.js';
import type { Random } from '../history/random.js';
import type { LoadRecord, Row } from './records.js';
import { LOAD } from './terms.js';

/** The origin as one process uses it: writes down its loads, and how many ran at once. */
export class Origin {
  readonly loads: LoadRecord[] = [];
  peak = 0;
  private running = 0;
  private readonly rows: Rows;

  constructor(
    private readonly process: number,
    port: number,
    private readonly random: Random,
  ) {
    this.rows = new Rows(port);
  }

  async load(key: string, leased: boolean, signal: AbortSignal): Promise<Row> {
    const id = `${this.process}:${this.loads.length}`;
    const record: LoadRecord = { process: this.process, id, key, begin: machineNow(), leased };
    this.loads.push(record);
    this.running += 1;
    this.peak = Math.max(this.peak, this.running);
    try {
      const version = await this.rows.read(key);
      await delay(this.random.between(LOAD.from, LOAD.to), undefined, { signal });
      return { key, version, load: id };
    } finally {
      this.running -= 1;
      record.end = machineNow();
    }
  }

  /** Commits a new version of each row. */
  async write(keys: readonly string[]): Promise<Record<string, number>> {
    const versions = await Promise.all(keys.map((key) => this.rows.write(key)));
    return Object.fromEntries(keys.map((key, index) => [key, versions[index] ?? NaN]));
  }

  close(): void {
    this.rows.close();
  }
}
