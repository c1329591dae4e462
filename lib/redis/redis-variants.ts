import type { CommandLink } from './command-link.js';
import type { KeyNames } from './key-names.js';
import { readBytes } from './read-string.js';
import { wholeMs } from './replies.js';
import type { ScriptCalls } from './script-calls.js';
import { ANNOUNCE } from './scripts/index.js';

/** As the script reads it. */
const LINE = /^\d+ ([!-~]+)$/;

/** The list of a name's variants. One that has ended may stand in it until the next announcement: no harm is done by it. */
export class RedisVariants {
  constructor(
    private readonly scripts: ScriptCalls,
    private readonly link: CommandLink,
    private readonly names: KeyNames,
  ) {}

  async read(name: string): Promise<string[]> {
    const lines = await readBytes(this.link.use(), this.names.variants(name));
    return (lines?.toString('latin1') ?? '').split('\n').flatMap((line) => LINE.exec(line)?.[1] ?? []);
  }

  async announce(name: string, variant: string, lifeMs: number): Promise<void> {
    await this.scripts.timed(ANNOUNCE, [this.names.variants(name)], [variant, wholeMs(lifeMs)], 1);
  }
}
