/** So many in a row are how the handler answers, not one id that is unlike the others. */
const IN_A_ROW = 3;
/** How long its requests then go straight to it, ms. */
const REST = 60_000;

/** Answers that only one client can have, of a route whose declaration does not tell. */
export class OddAnswers {
  private inRow = 0;
  private restsUntil: number | undefined;

  /** @param now monotonic, ms */
  constructor(private readonly now: () => number) {}

  /** One more of them. After a rest the first one is enough: nothing came in between. */
  note(): void {
    this.inRow += 1;
    if (this.inRow >= IN_A_ROW) this.restsUntil = this.now() + REST;
  }

  /** An answer that others can have too. */
  endRow(): void {
    this.inRow = 0;
  }

  /** Whether the route is left alone for now. Its next request after that is tried again. */
  get isResting(): boolean {
    if (this.restsUntil === undefined) return false;
    if (this.now() < this.restsUntil) return true;
    this.restsUntil = undefined;
    return false;
  }
}
