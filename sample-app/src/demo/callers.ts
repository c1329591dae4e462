import { Agent, get } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { now } from './clock.js';

export interface Answer {
  /** From the request to the last byte of the response, in milliseconds. */
  readonly latency: number;
  readonly ok: boolean;
}

export interface CallersOptions {
  /** One for each caller: where that caller asks. */
  readonly urls: readonly string[];
  /** A caller pauses between two requests for half to one and a half times that, in milliseconds. */
  readonly thinkTime: number;
}

interface Caller {
  readonly url: string;
  readonly agent: Agent;
}

/** A crowd that asks for one thing, each over a connection of their own; in a closed loop, so nobody asks twice at once. */
export class Callers {
  readonly answers: Answer[] = [];
  private readonly callers: readonly Caller[];
  private asking = 0;

  constructor(private readonly options: CallersOptions) {
    // One for each of them: in a common one most connections would lie idle until the server closes them.
    this.callers = options.urls.map((url) => ({ url, agent: new Agent({ keepAlive: true, maxSockets: 1 }) }));
  }

  /** How many of them are waiting for an answer. */
  get waiting(): number {
    return this.asking;
  }

  /** Everybody asks once, all at the same time. */
  async askAtOnce(): Promise<void> {
    await this.each((ask) => ask());
  }

  /** Everybody thinks and asks, again and again until `end` (milliseconds since the epoch), and stays for the last answer. */
  async keepAsking(end: number): Promise<void> {
    await this.each(async (ask) => {
      for (;;) {
        await sleep(this.options.thinkTime * (0.5 + Math.random()));
        if (now() >= end) return;
        await ask();
      }
    });
  }

  leave(): void {
    for (const { agent } of this.callers) agent.destroy();
  }

  private async each(behave: (ask: () => Promise<void>) => Promise<void>): Promise<void> {
    await Promise.all(this.callers.map((caller) => behave(() => this.ask(caller))));
  }

  private async ask(caller: Caller): Promise<void> {
    const start = now();
    this.asking++;
    const ok = await succeeds(caller);
    this.asking--;
    this.answers.push({ latency: now() - start, ok });
  }
}

/** Whether an answer comes and is a good one. */
function succeeds({ url, agent }: Caller): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode === 200));
      response.once('error', () => resolve(false));
    });
    request.once('error', () => resolve(false));
  });
}
