import { sum } from '../stats.mjs';
import { Child } from './child.mjs';

/** Started at once, so that a full machine is not mistaken for a slow start. */
const AT_ONCE = 4;

/** The processes of a run on one server: those of the last scenario serve the next one, too. */
export class Pool {
  #children = new Map();

  constructor(url) {
    this.url = url;
  }

  /** `{ name: [child, …] }`, `processes` of each; others end, so that they disturb nothing. */
  async open(names, processes) {
    const wanted = Object.fromEntries(names.map((name) => [name, processes]));
    await this.#trim(wanted);
    const missing = names.flatMap((name) => Array(processes - this.#of(name).length).fill(name));
    while (missing.length > 0) {
      const batch = missing.splice(0, AT_ONCE).map((name) => this.#add(name));
      await Promise.all(batch.map(({ ready }) => ready));
    }
    return Object.fromEntries(names.map((name) => [name, [...this.#of(name)]]));
  }

  get size() {
    return sum([...this.#children.values()].map(({ length }) => length));
  }

  async close() {
    await this.#trim({});
  }

  #of(name) {
    return this.#children.get(name) ?? [];
  }

  #add(name) {
    const child = new Child(name, { url: this.url, namespace: namespaceOf(name) });
    this.#children.set(name, [...this.#of(name), child]);
    return child;
  }

  async #trim(wanted) {
    const leaving = [];
    for (const [name, children] of this.#children) {
      const alive = children.filter(({ gone }) => !gone);
      this.#children.set(name, alive.slice(0, wanted[name] ?? 0));
      leaving.push(...alive.slice(wanted[name] ?? 0));
    }
    await Promise.all(leaving.map((child) => child.stop()));
  }
}

/** The first part of a configuration's keys. */
export const namespaceOf = (name) => name.replace(/[^\w]+/g, '-');
