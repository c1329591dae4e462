import type { Cancel, Runtime } from '../core/ports.js';

/** How often expired things that nobody asked for are looked for, ms. */
const SWEEP_EVERY = 1_000;
/** Keys looked at in one go, so that a large table never holds up the event loop. */
const SWEEP_CHUNK = 4_096;

/** A table whose things expire. */
export interface Expiring {
  readonly size: number;
  /** May be read on while the table changes. */
  keys(): IterableIterator<string>;
  /** Drops the thing under `id`, if its time is over. */
  expire(id: string, now: number): void;
}

interface TableKey {
  readonly table: Expiring;
  readonly id: string;
}

/** Frees what expired without being asked for: one background timer, and only while there is something that can expire. */
export class Sweeper {
  #cancel: Cancel | undefined;
  /** Where the round stands; undefined between two rounds. */
  #round: Iterator<TableKey> | undefined;

  constructor(
    private readonly runtime: Runtime,
    private readonly tables: readonly Expiring[],
    private readonly now: () => number,
  ) {}

  /** To be called whenever something may have been stored. */
  start(): void {
    if (this.#cancel !== undefined || this.tables.every((table) => table.size === 0)) return;
    this.#cancel = this.runtime.timers.after(SWEEP_EVERY, () => this.#sweep(), true);
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#round = undefined;
  }

  #sweep(): void {
    this.#cancel = undefined;
    this.#round ??= allKeys(this.tables);
    const now = this.now();
    for (let looked = 0; looked < SWEEP_CHUNK; looked++) {
      const step = this.#round.next();
      if (step.done === true) {
        this.#round = undefined;
        break;
      }
      step.value.table.expire(step.value.id, now);
    }
    this.start();
  }
}

function* allKeys(tables: readonly Expiring[]): Generator<TableKey> {
  for (const table of tables) {
    // A table in order of use grows at its end while it is read: a round must end all the same.
    let left = table.size;
    for (const id of table.keys()) {
      if (left-- <= 0) break;
      yield { table, id };
    }
  }
}
