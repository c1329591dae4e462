/** The epochs of all scopes that were ever cleared. They never expire, and none is ever lowered. */
export class EpochTable {
  readonly #epochs = new Map<string, number>();
  #latest = 0;

  constructor(private readonly maxScopes: number) {}

  all(): ReadonlyMap<string, number> {
    return new Map(this.#epochs);
  }

  clear(scope: string, now: number): number {
    // Above all: an entry carries the greatest one of those that concern it.
    const epoch = Math.max(now, this.#latest + 1);
    this.raise(scope, epoch);
    return epoch;
  }

  raise(scope: string, epoch: number): void {
    this.#latest = Math.max(this.#latest, epoch);
    this.#epochs.set(scope, Math.max(epoch, this.#epochs.get(scope) ?? 0));
    if (this.#epochs.size > this.maxScopes) this.#fold();
  }

  /** Too many scopes to keep apart: the whole namespace counts as cleared when the last of them was. */
  #fold(): void {
    this.#epochs.clear();
    this.#epochs.set('', this.#latest);
  }
}
