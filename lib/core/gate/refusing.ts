import { nothing } from '../nothing.js';
import type { Timers } from '../ports.js';

/** Failures at once that need no turn of the event loop. */
const MOST_IN_A_TURN = 100;

/**
 * Rejects at once, unless it has done so very often without the event loop having turned. Calls in a loop whose loads do no
 * I/O would keep it from ever turning, and the store from ever coming back.
 */
export class Refusing {
  /** What was refused since the event loop turned, and its next turn. */
  private refused = 0;
  private turn: Promise<void> | undefined;
  private endTurn: () => void = nothing;

  constructor(private readonly timers: Timers) {}

  reject(failure: Error, reject: (failure: Error) => void): void {
    this.refused += 1;
    this.turn ??= new Promise<void>((resolve) => {
      const endTurn = (): void => {
        stop();
        this.turn = undefined;
        this.refused = 0;
        resolve();
      };
      this.endTurn = endTurn;
      const stop = this.timers.after(0, endTurn);
    });
    if (this.refused <= MOST_IN_A_TURN) return reject(failure);
    void this.turn.then(() => reject(failure));
  }

  close(): void {
    this.endTurn();
  }
}
