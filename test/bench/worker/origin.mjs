import { now, sleep } from '../clock.mjs';

/** What stands for the database: it takes its time, and remembers when it was asked. */
export class Origin {
  calls = 0;
  spans = [];
  #running = new Set();

  constructor(ms, value) {
    this.ms = ms;
    this.value = value;
  }

  load = async () => {
    this.calls += 1;
    const begun = now();
    this.#running.add(begun);
    if (this.ms > 0) await sleep(this.ms);
    this.#running.delete(begun);
    this.spans.push([begun, now()]);
    return this.value;
  };

  /** Begin and end of every load; those that still run end now. */
  get all() {
    const at = now();
    return [...this.spans, ...[...this.#running].map((begun) => [begun, at])];
  }
}
