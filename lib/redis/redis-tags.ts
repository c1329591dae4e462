import { NotAnnounced } from '../core/not-announced.js';
import type { Random } from '../core/ports.js';
import { INVALIDATED_TAG_LIFE, type TagState } from '../core/store.js';
import type { CommandLink } from './command-link.js';
import type { KeyNames } from './key-names.js';
import { tagMessage } from './message.js';
import { readBytes } from './read-string.js';
import { wholeHoldOffMs, wholeMs } from './replies.js';
import type { ScriptCalls } from './script-calls.js';
import { AHEAD_MS } from './scripts/bounds.js';
import { EXPIRE_TAG, HOLD_TAG, INVALIDATE_TAG } from './scripts/index.js';
import type { ServerClock } from './server-clock.js';
import { parseTagRecord, randomPart } from './tag-record.js';

/** A key per tag, each in a slot of its own: many are asked for by many commands, sent together. */
export class RedisTags {
  constructor(
    private readonly scripts: ScriptCalls,
    private readonly link: CommandLink,
    private readonly names: KeyNames,
    private readonly channel: string,
    private readonly random: Random,
    private readonly clock: ServerClock,
  ) {}

  async read(ids: readonly string[]): Promise<(TagState | undefined)[]> {
    const client = this.link.use();
    const records = await Promise.all(ids.map((id) => readBytes(client, this.names.tag(id))));
    const latest = this.clock.now() + AHEAD_MS;
    return records.map((record) =>
      record === null ? undefined : parseTagRecord(record.toString('latin1'), latest),
    );
  }

  async hold(ids: readonly string[], lifeMs: number): Promise<TagState[]> {
    const holding = ids.map((id) => this.change(HOLD_TAG, id, [wholeMs(lifeMs)]));
    return (await Promise.all(holding)).map(stateOf);
  }

  /** @throws NotAnnounced after the change was made */
  async invalidate(id: string, holdOffMs: number): Promise<TagState> {
    const args = [wholeHoldOffMs(holdOffMs), INVALIDATED_TAG_LIFE, this.channel, tagMessage(id)];
    const reply = await this.change(INVALIDATE_TAG, id, args);
    this.announced('The tag was invalidated', reply);
    return stateOf(reply);
  }

  /** @throws NotAnnounced after the change was made */
  async expire(id: string): Promise<void> {
    const reply = await this.change(EXPIRE_TAG, id, [this.channel, tagMessage(id)]);
    this.announced('The tag was expired', reply);
  }

  /** Unannounced, the change would be missed without a bound: what others remember of the tag is confirmed by heartbeats. */
  private announced(what: string, [, , refusal]: readonly unknown[]): void {
    if (refusal === '') return;
    const { channel } = this;
    throw new NotAnnounced(
      `${what}, but the other processes could not be told over the channel ${channel}: ${String(refusal)}. The Redis user needs the ACL rules +publish and &${channel}`,
    );
  }

  private change(script: typeof HOLD_TAG, id: string, args: readonly (string | number)[]) {
    const random = randomPart(this.random.token());
    return this.scripts.timed(script, [this.names.tag(id)], [random, ...args], 1);
  }
}

function stateOf([record]: readonly unknown[]): TagState {
  const state = parseTagRecord(String(record));
  if (state === undefined) throw new Error(`A script answered ${String(record)} where a tag was expected`);
  return state;
}
