import type { Clock } from '../core/ports.js';

interface Sample {
  readonly roundTrip: number;
  readonly offset: number;
  readonly at: number;
}

const WINDOW_MS = 30_000;
/** What two honest samples may differ by beyond their round trips: TIME is cut to milliseconds, oscillators drift. */
const SLACK_MS = 10;

/**
 * The server's wall clock, seen through the local monotonic one. The offset comes from the reply with the smallest round
 * trip of the last minute (Cristian's algorithm: the error is at most half of it).
 */
export class ServerClock {
  private best: Sample | undefined;
  private earlier: Sample | undefined;
  private windowEnd = -Infinity;
  private offset: number;

  /** @param epochGuess the local wall clock, epoch ms; only used until the first sample */
  constructor(
    private readonly clock: Clock,
    epochGuess: number,
  ) {
    this.offset = epochGuess - clock.now();
  }

  /**
   * Epoch milliseconds on the server, an integer.
   * @param at monotonic, ms
   */
  now(at = this.clock.now()): number {
    return Math.round(at + this.offset);
  }

  /** `sentAt`: the monotonic time at which the command was sent; `serverNow`: the epoch ms that its reply carries. */
  sample(sentAt: number, serverNow: number): void {
    const at = this.clock.now();
    if (!Number.isFinite(serverNow) || at < sentAt) return;
    const taken: Sample = { roundTrip: at - sentAt, offset: serverNow - (sentAt + at) / 2, at };
    this.rotate(taken);
    if (this.best === undefined || taken.roundTrip <= this.best.roundTrip) this.best = taken;
    const { best, earlier } = this;
    this.offset = earlier !== undefined && earlier.roundTrip < best.roundTrip ? earlier.offset : best.offset;
  }

  private rotate(taken: Sample): void {
    // The server's clock was set, or another server answers now: older samples are about another clock.
    if ([this.best, this.earlier].some((known) => known !== undefined && contradicts(known, taken))) {
      this.best = undefined;
      this.earlier = undefined;
    }
    if (taken.at < this.windowEnd) return;
    const recent = this.best !== undefined && taken.at - this.best.at <= 2 * WINDOW_MS;
    this.earlier = recent ? this.best : undefined;
    this.best = undefined;
    this.windowEnd = taken.at + WINDOW_MS;
  }
}

function contradicts(a: Sample, b: Sample): boolean {
  return Math.abs(a.offset - b.offset) > (a.roundTrip + b.roundTrip) / 2 + SLACK_MS;
}
