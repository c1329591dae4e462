import type { Cancel, Runtime } from '../core/ports.js';
import { reasonOf } from './redact.js';

/** One proof under way. */
export interface Beat {
  /** Resolves when everything published before the beat has been handed over. Rejects where that can't be proven. */
  readonly answered: Promise<unknown>;
  /** Whether it is the subscriber that owes the answer. */
  readonly isOverdue: () => boolean;
}

export interface HeartbeatOptions {
  readonly runtime: Runtime;
  /** How old a proof may be, ms. A beat that is not answered for so long means that the subscriber is dead. */
  readonly maxLag: number;
  /** Undefined: there is nothing to send it on. */
  readonly send: () => Beat | undefined;
  readonly onDead: (reason: string) => void;
}

const BEATS_PER_LAG = 4;
/** Beats that are still sent after the proof was last asked for. */
const IDLE_BEATS = 10;

interface Pending {
  readonly sentAt: number;
  readonly beat: Beat;
}

/** Proves again and again, while somebody asks, that nothing published was missed up to a moment ago. */
export class Heartbeat {
  private told = -Infinity;
  private asked = -Infinity;
  private pending: Pending[] = [];
  private cancel: Cancel | undefined;
  /** Beats of a connection before the present one count no more. */
  private life = 0;
  private stopped = false;
  private warned = false;

  constructor(private readonly options: HeartbeatOptions) {}

  /** When the last answered beat was sent; -Infinity: none since the last gap. */
  ask(now = this.options.runtime.clock.now()): number {
    this.asked = now;
    if (this.cancel === undefined && !this.stopped) this.next();
    return this.told;
  }

  /** A gap: what was proven before counts no more. */
  gap(): void {
    this.told = -Infinity;
    this.pending = [];
    this.life++;
  }

  /** A subscription came to be. */
  begin(): void {
    this.gap();
    if (this.cancel !== undefined) this.beat();
  }

  stop(): void {
    this.stopped = true;
    this.gap();
    this.cancel?.();
    this.cancel = undefined;
  }

  private next(): void {
    this.beat();
    if (this.stopped) return;
    this.cancel = this.options.runtime.timers.after(this.interval, () => this.tick(), true);
  }

  private tick(): void {
    this.cancel = undefined;
    const { clock } = this.options.runtime;
    if (clock.now() - this.asked > IDLE_BEATS * this.interval) {
      this.pending = [];
      return;
    }
    const due = clock.now() - this.options.maxLag;
    const overdue = this.pending.some(({ sentAt, beat }) => sentAt <= due && beat.isOverdue());
    this.pending = this.pending.filter(({ sentAt }) => sentAt > due);
    if (overdue) this.options.onDead(`no heartbeat came back for ${this.options.maxLag} ms`);
    this.next();
  }

  private beat(): void {
    const sentAt = this.options.runtime.clock.now();
    const beat = this.options.send();
    if (beat === undefined) return;
    const { life } = this;
    const sent = { sentAt, beat };
    this.pending.push(sent);
    beat.answered.then(
      () => life === this.life && this.answered(sent),
      (error: unknown) => life === this.life && this.refused(sent, error),
    );
  }

  private answered(sent: Pending): void {
    this.told = Math.max(this.told, sent.sentAt);
    this.forget(sent);
  }

  /** Not the connection's fault (that would have ended it): the user may not do what a beat takes. */
  private refused(sent: Pending, error: unknown): void {
    this.forget(sent);
    const reason = reasonOf(error);
    if (this.warned || !reason.includes('NOPERM')) return;
    this.warned = true;
    this.options.runtime.log.warn(`Redis refuses the heartbeat, so tags are read with each value: ${reason}`);
  }

  private forget(sent: Pending): void {
    this.pending = this.pending.filter((other) => other !== sent);
  }

  private get interval(): number {
    return this.options.maxLag / BEATS_PER_LAG;
  }
}
