import type { Random } from '../core/ports.js';
import type { CommandLink } from './command-link.js';
import { formatEpochs, parseEpochs, scopeText } from './epoch-lines.js';
import type { KeyNames } from './key-names.js';
import { epochMessage } from './message.js';
import { readBytes } from './read-string.js';
import type { ScriptCalls } from './script-calls.js';
import { AHEAD_MS } from './scripts/bounds.js';
import { CLEAR, RAISE_EPOCHS } from './scripts/index.js';
import type { ServerClock } from './server-clock.js';
import { randomPart } from './tag-record.js';

/** One key for the epochs of all scopes: reading them is a plain GET of a few lines. */
export class RedisEpochs {
  constructor(
    private readonly scripts: ScriptCalls,
    private readonly link: CommandLink,
    private readonly names: KeyNames,
    private readonly channel: string,
    private readonly random: Random,
    private readonly clock: ServerClock,
  ) {}

  async read(): Promise<Map<string, number>> {
    const bytes = await readBytes(this.link.use(), this.names.epochs());
    const lines = bytes?.toString('utf8') ?? '';
    const all = parseEpochs(lines, Infinity);
    const latest = this.latest();
    if (Array.from(all.values()).every((epoch) => epoch <= latest)) return all;
    // Absurd, or our idea of the server's time is: the server drops what is by its own clock, and tells its time along.
    await this.raiseLines('').catch(() => undefined);
    return parseEpochs(lines, this.latest());
  }

  /** What an epoch may be at most, server ms: no entry could reach a later one. */
  latest(): number {
    return this.clock.now() + AHEAD_MS;
  }

  async clear(scope: string): Promise<number> {
    const random = randomPart(this.random.token());
    const args = [scopeText(scope), random, this.channel, epochMessage(scope)];
    const [epoch] = await this.scripts.timed(CLEAR, [this.names.epochs()], args, 1);
    return Number(epoch);
  }

  async raise(epochs: ReadonlyMap<string, number>): Promise<void> {
    if (epochs.size === 0) return;
    await this.raiseLines(formatEpochs(epochs));
  }

  private async raiseLines(lines: string): Promise<void> {
    await this.scripts.timed(RAISE_EPOCHS, [this.names.epochs()], [lines], 1);
  }
}
