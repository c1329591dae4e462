/** Commands whose time is over and whose answer is still owed: they wait in the client, or on the server. */
export class Debts {
  private total = 0;
  /** Of commands the client gave up, by server: it says nothing more of them. */
  private readonly givenUp = new Map<string, number>();
  private era = 0;

  get count(): number {
    return this.total;
  }

  /** An answer is owed from now on, until what is returned is called. */
  add(): () => void {
    const { era } = this;
    this.total += 1;
    return () => {
      if (era === this.era) this.total -= 1;
    };
  }

  /** The client stopped waiting for an answer. */
  giveUp(server: string): void {
    this.total += 1;
    this.givenUp.set(server, (this.givenUp.get(server) ?? 0) + 1);
  }

  /** It answers in order: what it was asked before is answered too. */
  answered(server: string): void {
    this.total -= this.givenUp.get(server) ?? 0;
    this.givenUp.delete(server);
  }

  /** The connection is a new one: what the old one owed is dropped, or sent again. */
  reset(): void {
    this.era += 1;
    this.total = 0;
    this.givenUp.clear();
  }
}
