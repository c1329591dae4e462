import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { DemoServers } from './app/demo.module.js';
import type { AppMessage } from './app/messages.js';

/** The application processes, and the tally of the queries they send to the database. */
export class Fleet {
  /** When each query reached the database, in milliseconds since the epoch. */
  readonly queries: number[] = [];
  /** Rejects when one of the processes ends on its own. */
  readonly broken: Promise<never>;
  private readonly children: readonly ChildProcess[];
  private readonly listening: readonly Promise<string>[];
  private stopping = false;

  constructor(size: number, { redisUrl, databaseUrl }: DemoServers) {
    const script = join(__dirname, 'app', 'main.js');
    // They have nothing to say on the standard output; their errors are worth reading.
    const stdio: ('ignore' | 'inherit' | 'ipc')[] = ['ignore', 'ignore', 'inherit', 'ipc'];
    this.children = Array.from({ length: size }, () => fork(script, [redisUrl, databaseUrl], { stdio }));
    this.listening = this.children.map((child) => this.listen(child));
    this.broken = Promise.race(this.children.map((child) => this.watch(child)));
    this.broken.catch(() => undefined); // whoever races against it sees it; nobody has to
  }

  /** Their URLs, as soon as all of them listen. */
  async ready(): Promise<string[]> {
    return Promise.race([Promise.all(this.listening), this.broken]);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    const running = this.children.filter(
      ({ exitCode, signalCode }) => exitCode === null && signalCode === null,
    );
    await Promise.all(
      running.map(async (child) => {
        const exited = once(child, 'exit');
        if (child.connected) child.disconnect();
        await exited;
      }),
    );
  }

  private listen(child: ChildProcess): Promise<string> {
    return new Promise((resolve) => {
      child.on('message', (message: AppMessage) => {
        if (message.kind === 'query') this.queries.push(message.at);
        else resolve(message.url);
      });
    });
  }

  private watch(child: ChildProcess): Promise<never> {
    return new Promise((_resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        if (!this.stopping) reject(new Error(`An application process ended with ${code ?? signal}`));
      });
    });
  }
}
