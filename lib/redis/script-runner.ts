import { createHash } from 'node:crypto';
import type { ClientLike } from './redis-like.js';
import { SCRIPTS, type Script } from './scripts/index.js';

export type ScriptArgument = string | number | Buffer;

/**
 * ioredis sends the text once a socket, and once more after NOSCRIPT. Where that text itself was redirected or refused (a
 * slot that moves, a replica just promoted), what follows it on the socket is not known there. It did not run, so it may again.
 */
const TIMES_AGAIN = 3;

/**
 * Runs scripts by their SHA through ioredis's own `defineCommand`, which sends the text where the server does not know it
 * (a fresh connection, NOSCRIPT, a fail-over). The number of keys is always given: a Cluster routes and auto-pipelines by
 * it. The command's name carries a digest of the text, so two versions of this package can share a client.
 */
export class ScriptRunner {
  private readonly names = new Map<Script, string>();

  constructor(
    private readonly client: ClientLike,
    /** Hears whatever a script failed with. */
    private readonly onFailure: (error: unknown) => void = () => undefined,
  ) {
    for (const script of SCRIPTS) {
      const name = commandName(script);
      this.names.set(script, name);
      if (name in client) continue;
      client.defineCommand(name, { lua: script.lua, numberOfKeys: script.numberOfKeys });
    }
  }

  async run(script: Script, keys: readonly string[], args: readonly ScriptArgument[]): Promise<unknown> {
    for (let again = TIMES_AGAIN; ; again--) {
      try {
        return await this.once(script, keys, args);
      } catch (error) {
        if (again > 0 && error instanceof Error && error.message.includes('NOSCRIPT')) continue;
        this.onFailure(error);
        throw error;
      }
    }
  }

  private once(script: Script, keys: readonly string[], args: readonly ScriptArgument[]): Promise<unknown> {
    const name = this.names.get(script);
    if (name === undefined) throw new Error(`The script ${script.name} was not defined`);
    // `defineCommand` adds the method at run time; no type knows it.
    const commands = this.client as unknown as Readonly<
      Record<string, (...args: unknown[]) => Promise<unknown>>
    >;
    const run = commands[name];
    if (run === undefined) throw new Error(`The script ${script.name} is missing on the client`);
    return run.call(this.client, ...keys, ...args);
  }
}

function commandName(script: Script): string {
  return `__stampede_${script.name}_${createHash('sha1').update(script.lua).digest('hex').slice(0, 8)}`;
}
