import type { Expiring } from './sweeper.js';

/** The variants that were announced for each name, and until when. */
export class VariantTable implements Expiring {
  readonly #ends = new Map<string, Map<string, number>>();

  get size(): number {
    return this.#ends.size;
  }

  list(name: string, now: number): string[] {
    this.expire(name, now);
    return [...(this.#ends.get(name)?.keys() ?? [])];
  }

  announce(name: string, variant: string, end: number): void {
    const ends = this.#ends.get(name) ?? new Map<string, number>();
    this.#ends.set(name, ends.set(variant, Math.max(end, ends.get(variant) ?? 0)));
  }

  clear(): void {
    this.#ends.clear();
  }

  keys(): IterableIterator<string> {
    return this.#ends.keys();
  }

  expire(name: string, now: number): void {
    const ends = this.#ends.get(name);
    for (const [variant, end] of ends ?? []) if (end <= now) ends?.delete(variant);
    if (ends?.size === 0) this.#ends.delete(name);
  }
}
