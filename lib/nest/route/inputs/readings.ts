import type { InputReading } from '../contracts.js';

/** A reading whose arguments are put together when a policy's function asks for them. */
export class Reading implements InputReading {
  private known: readonly unknown[] | undefined;

  constructor(
    readonly parts: readonly unknown[],
    readonly isCovered: boolean,
    private readonly readArgs: () => readonly unknown[],
  ) {}

  get args(): readonly unknown[] {
    return (this.known ??= this.readArgs());
  }
}
