/** Who would take a slot when it comes back. */
export interface Taker {
  grant(slot: Slot): void;
}

/**
 * The right to run one load. A load that calls other cached methods lends its slot to one of them at a time, so that nested
 * loads can't starve each other of slots.
 */
export class Slot {
  private lent = false;
  private returned = false;
  /** Nested loads that would take this slot as soon as it is back. */
  private readonly wanting = new Set<Taker>();

  constructor(private readonly giveBack: () => void) {}

  /** Ends the right. While lent, the place stays taken until the borrower is done. Idempotent. */
  release(): void {
    if (this.returned) return;
    this.returned = true;
    if (!this.lent) this.giveBack();
  }

  /** A slot in place of this one, or undefined while another nested load has it. */
  lend(): Slot | undefined {
    if (this.lent || this.returned) return undefined;
    this.lent = true;
    return new Slot(() => this.takeBack());
  }

  /** Grants `taker` this slot when it is back; it leaves by {@link forget}. */
  want(taker: Taker): void {
    this.wanting.add(taker);
  }

  forget(taker: Taker): void {
    this.wanting.delete(taker);
  }

  private takeBack(): void {
    this.lent = false;
    if (this.returned) {
      this.giveBack();
      return;
    }
    const [next] = this.wanting;
    const slot = next && this.lend();
    if (next && slot) next.grant(slot);
  }
}
