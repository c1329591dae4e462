/** Lets so many through at once, the others in their order. */
export class Turnstile {
  private inside = 0;
  private readonly waiting = new Set<() => void>();

  constructor(private readonly limit: number) {}

  get hasRoom(): boolean {
    return this.inside < this.limit;
  }

  /** Calls `pass` when there is room, maybe at once. Whoever has passed leaves by {@link leave}. */
  enter(pass: () => void): void {
    if (!this.hasRoom) {
      this.waiting.add(pass);
      return;
    }
    this.inside += 1;
    pass();
  }

  /** Whoever waits for its turn does no more. */
  forget(pass: () => void): void {
    this.waiting.delete(pass);
  }

  leave(): void {
    this.inside -= 1;
    const [next] = this.waiting;
    if (next === undefined) return;
    this.waiting.delete(next);
    this.enter(next);
  }
}
