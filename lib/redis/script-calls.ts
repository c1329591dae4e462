import type { EntryKey } from '../core/keys/index.js';
import type { Clock } from '../core/ports.js';
import type { CommandLink } from './command-link.js';
import type { KeyNames } from './key-names.js';
import { fields } from './replies.js';
import type { ScriptArgument, ScriptRunner } from './script-runner.js';
import type { Script } from './scripts/index.js';
import type { ServerClock } from './server-clock.js';

/** How long a staged entry outlives the process that staged it. */
const STAGED_MS = 10_000;

export interface ScriptCallsOptions {
  readonly link: CommandLink;
  readonly runner: ScriptRunner;
  readonly names: KeyNames;
  readonly serverClock: ServerClock;
  readonly clock: Clock;
}

/** The ways the store calls a script: sent at once or not at all, and never without learning from the reply's time. */
export class ScriptCalls {
  constructor(private readonly options: ScriptCallsOptions) {}

  async run(script: Script, keys: readonly string[], args: readonly ScriptArgument[]): Promise<unknown> {
    const { link, runner } = this.options;
    link.use();
    return runner.run(script, keys, args);
  }

  /** Runs a script whose reply is a list with the server's time at `nowAt`. */
  async timed(
    script: Script,
    keys: readonly string[],
    args: readonly ScriptArgument[],
    nowAt: number,
  ): Promise<readonly unknown[]> {
    const sentAt = this.options.clock.now();
    const reply = fields(await this.run(script, keys, args));
    this.options.serverClock.sample(sentAt, Number(reply[nowAt]));
    return reply;
  }

  /**
   * Stages the bytes with a plain SET and moves them into place by a script (reply `{code, now}`, code 3: nothing was
   * staged), sent back to back: one round trip, and the payload never passes through Lua. The script alone decides; a lost
   * reply to the SET means nothing.
   */
  async staged(
    script: Script,
    key: EntryKey,
    request: { readonly token: string; readonly bytes: Buffer },
    args: readonly ScriptArgument[],
  ): Promise<number> {
    const { link, runner, names, serverClock, clock } = this.options;
    const staged = names.staged(key, request.token);
    const sentAt = clock.now();
    const [set, moved] = await Promise.allSettled([
      link.use().set(staged, request.bytes, 'PX', STAGED_MS),
      runner.run(script, [names.data(key), names.lease(key), staged], args),
    ]);
    if (moved.status === 'rejected') throw moved.reason;
    const [code, now] = fields(moved.value).map(Number);
    if (now !== undefined) serverClock.sample(sentAt, now);
    if (code === 3 && set.status === 'rejected') throw set.reason;
    return code ?? NaN;
  }
}
