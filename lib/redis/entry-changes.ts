import type { EntryKey } from '../core/keys/index.js';
import type { CommandLink } from './command-link.js';
import type { KeyNames } from './key-names.js';
import { invalidatedMessage } from './message.js';
import { wholeHoldOffMs } from './replies.js';
import { isResharding } from './resharding.js';
import type { ScriptCalls } from './script-calls.js';
import { EXPIRE, INVALIDATE, REVOKE, STALE } from './scripts/index.js';

interface Target {
  readonly keys: readonly [data: string, lease: string];
  readonly wake: readonly [channel: string, message: string];
}

/**
 * The explicit changes of one entry. While a slot moves from one server to another, scripts with two keys fail and those
 * with one work: then the lease goes first and the entry after it, which is as safe.
 */
export class EntryChanges {
  constructor(
    private readonly scripts: ScriptCalls,
    private readonly link: CommandLink,
    private readonly names: KeyNames,
    private readonly channel: string,
  ) {}

  async invalidate(key: EntryKey, holdOffMs: number): Promise<void> {
    const { keys, wake } = this.target(key);
    const holdOff = wholeHoldOffMs(holdOffMs);
    try {
      await this.scripts.timed(INVALIDATE, keys, [holdOff, ...wake], 1);
    } catch (error) {
      if (!isResharding(error)) throw error;
      const dropEntry = () => this.link.use().unlink(this.names.data(key));
      await this.inTwoSteps(key, holdOff, dropEntry);
    }
  }

  async expire(key: EntryKey): Promise<void> {
    const { keys, wake } = this.target(key);
    try {
      await this.scripts.timed(EXPIRE, keys, wake, 1);
    } catch (error) {
      if (!isResharding(error)) throw error;
      await this.inTwoSteps(key, 0, () => this.scripts.timed(STALE, [this.names.data(key)], [], 1));
    }
  }

  private target(key: EntryKey): Target {
    return {
      keys: [this.names.data(key), this.names.lease(key)],
      wake: [this.channel, invalidatedMessage(this.names.waiting(key))],
    };
  }

  /** Those who wait are woken last, whether or not there are any: a resend of the first step could not tell. */
  private async inTwoSteps(key: EntryKey, holdOff: number, second: () => Promise<unknown>): Promise<void> {
    await this.scripts.timed(REVOKE, [this.names.lease(key)], [holdOff], 1);
    await second();
    const [channel, message] = this.target(key).wake;
    await this.link
      .use()
      .publish(channel, message)
      .catch(() => undefined);
  }
}
