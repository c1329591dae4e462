import type { Socket } from 'node:net';

/** One chunk on its way, or (`bytes` undefined) the end of the stream. */
interface Parcel {
  readonly bytes?: Buffer;
  readonly due: number;
}

/** One direction of a proxied connection: a queue that keeps the order, may delay each chunk and may be held. */
export class Pipe {
  private readonly queue: Parcel[] = [];
  private timer?: NodeJS.Timeout;
  private holding = false;
  private lastDue = 0;

  constructor(
    source: Socket,
    private readonly destination: Socket,
    private readonly delay: () => number,
  ) {
    source.on('data', (bytes) => this.push(bytes));
    source.on('end', () => this.push(undefined));
  }

  hold(): void {
    this.holding = true;
    this.stopTimer();
  }

  /** Delivers at once whatever was held or delayed. */
  release(): void {
    this.holding = false;
    this.stopTimer();
    for (const parcel of this.queue.splice(0)) this.deliver(parcel);
    this.lastDue = 0;
  }

  discard(): void {
    this.stopTimer();
    this.queue.length = 0;
  }

  private push(bytes: Buffer | undefined): void {
    // Never before the chunk in front, or a random delay would reorder the stream.
    const due = Math.max(performance.now() + this.delay(), this.lastDue);
    this.lastDue = due;
    this.queue.push({ bytes, due });
    this.flush();
  }

  private flush(): void {
    if (this.holding || this.timer) return;
    for (;;) {
      const head = this.queue[0];
      if (!head) return;
      const wait = head.due - performance.now();
      if (wait > 0) {
        this.timer = setTimeout(() => {
          this.timer = undefined;
          this.flush();
        }, wait);
        return;
      }
      this.queue.shift();
      this.deliver(head);
    }
  }

  private deliver({ bytes }: Parcel): void {
    if (this.destination.destroyed || this.destination.writableEnded) return;
    if (bytes) this.destination.write(bytes);
    else this.destination.end();
  }

  private stopTimer(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
