import { count } from './format.js';

export interface Snapshot {
  readonly seconds: number;
  readonly requests: number;
  readonly queries: number;
  readonly waiting: number;
}

/** Where it writes: the standard output, or whatever looks like it. */
export interface Screen {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const ERASE_LINE = '\r\u001b[2K';

/** Tells what is going on: one line that changes on a terminal, a line a second elsewhere. */
export class Progress {
  constructor(private readonly screen: Screen) {}

  say(line: string): void {
    this.screen.write(`${line}\n`);
  }

  /** Shows how far a run is until `end()`. */
  follow(name: string, look: () => Snapshot): { end(): void } {
    const live = this.screen.isTTY === true;
    const show = () => this.screen.write(live ? ERASE_LINE + line(name, look()) : `${line(name, look())}\n`);
    const timer = setInterval(show, live ? 100 : 1_000);
    return {
      end: () => {
        clearInterval(timer);
        show();
        if (live) this.screen.write('\n');
      },
    };
  }
}

function line(name: string, { seconds, requests, queries, waiting }: Snapshot): string {
  const columns = [
    `  ${name.padEnd(12)}`,
    `${seconds.toFixed(1).padStart(4)} s`,
    `${count(requests).padStart(7)} answers`,
    `${count(queries).padStart(6)} database queries`,
    `${count(waiting).padStart(4)} callers waiting`,
  ];
  return columns.join('  ');
}
