import type { Clock } from '../core/ports.js';
import type { Beat } from './heartbeat.js';
import type { ClusterLike, SingleLike } from './redis-like.js';

/** Beats under way at most, and messages to one master that it has not acknowledged. */
const MOST = 8;

interface Open {
  /** Masters whose message has not come back yet. */
  readonly missing: Set<number>;
  readonly done: () => void;
}

/**
 * Beats on a Cluster. Each master hands on what was published through it in order, but not in step with the others: so a
 * beat is a message through every one of them, and is answered when all have come back.
 */
export class ClusterBeats {
  private readonly open = new Map<number, Open>();
  private readonly unacknowledged = new WeakMap<SingleLike, number>();
  private count = 0;

  constructor(
    private readonly client: ClusterLike,
    /** Only this process listens to it. */
    private readonly channel: string,
    private readonly clock: Clock,
    /** How long a message that its master has acknowledged may take, ms. */
    private readonly patience: number,
  ) {}

  send(): Beat | undefined {
    const masters = this.client.nodes('master');
    // A frozen master would be sent message after message, and no beat can be answered without it.
    if (masters.length === 0 || masters.some((master) => this.owing(master) >= MOST)) return undefined;
    const number = ++this.count;
    const missing = new Set(masters.keys());
    const acknowledged = new Map<number, number>();
    const answered = new Promise<void>((done, refuse) => {
      this.remember(number, { missing, done });
      masters.forEach((master, at) => {
        this.publish(master, `${number} ${at}`).then(
          () => void acknowledged.set(at, this.clock.now()),
          (error: unknown) => refuse(error),
        );
      });
    });
    const isOverdue = (): boolean => {
      const since = this.clock.now() - this.patience;
      return Array.from(acknowledged).some(([at, time]) => missing.has(at) && time <= since);
    };
    return { answered, isOverdue };
  }

  receive(text: string): void {
    const [number, at] = text.split(' ').map(Number);
    const open = this.open.get(number ?? NaN);
    if (number === undefined || open === undefined) return;
    open.missing.delete(at ?? NaN);
    if (open.missing.size > 0) return;
    this.open.delete(number);
    open.done();
  }

  private remember(number: number, open: Open): void {
    this.open.set(number, open);
    this.open.delete(number - MOST);
  }

  private async publish(master: SingleLike, text: string): Promise<void> {
    this.unacknowledged.set(master, this.owing(master) + 1);
    try {
      await master.publish(this.channel, text);
    } finally {
      this.unacknowledged.set(master, this.owing(master) - 1);
    }
  }

  private owing(master: SingleLike): number {
    return this.unacknowledged.get(master) ?? 0;
  }
}
