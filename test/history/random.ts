/** A seeded source of chance (mulberry32): the same seed draws the same numbers, in every process. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed | 0;
  }

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  between(low: number, high: number): number {
    return low + this.next() * (high - low);
  }

  /** Exponentially distributed. */
  around(mean: number): number {
    return -mean * Math.log(1 - this.next());
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }

  /** One of the names, by their weights. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const names = Object.keys(weights) as K[]; // the keys of a record are its names
    let left = this.next() * names.reduce((sum, name) => sum + weights[name], 0);
    for (const name of names) {
      left -= weights[name];
      if (left < 0) return name;
    }
    return this.pick(names);
  }
}

/** Numbers that are streams of one seed: of a process, of a client in it. */
export function seedOf(seed: number, ...path: readonly number[]): number {
  return path.reduce(
    (mixed, part) => Math.imul(mixed ^ (part + 0x9e3779b9), 0x85ebca6b) ^ (mixed >>> 13),
    seed,
  );
}
