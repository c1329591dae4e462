import type { EntryKey } from '../core/keys/index.js';
import type { Cancel, Runtime } from '../core/ports.js';
import type {
  AcquireReply,
  AcquireRequest,
  CommitReply,
  CommitRequest,
  LeaseState,
  PutRequest,
  ReleaseRequest,
  Store,
  StoredFacts,
  TouchReply,
  TouchRequest,
  Wake,
} from '../core/store.js';
import { acquireReply, commitReply, touchReply, wholeMs } from './replies.js';
import { CommandLink } from './command-link.js';
import { connect, type Connected } from './connect.js';
import { KeyNames } from './key-names.js';
import { parseLiveLease } from './lease-record.js';
import { isResharding } from './resharding.js';
import { ScriptCalls } from './script-calls.js';
import { ScriptRunner } from './script-runner.js';
import { ACQUIRE, COMMIT, FACTS, INVALIDATE, PUT, RELEASE, RENEW, TOUCH } from './scripts/index.js';
import { ServerClock } from './server-clock.js';
import { endedMessage, invalidatedMessage, publishedMessage } from './wake-message.js';
import { WakeUp } from './wake-up.js';

export type StateListener = (state: 'up' | 'down', reason: string) => void;

export interface RedisStoreOptions {
  /** URL, ioredis options, `{ nodes, options }`, `{ sentinels, … }`, or an ioredis instance. */
  readonly connection: unknown;
  /** First part of every key and channel. Not empty, without `{`, `}` and control characters. */
  readonly namespace: string;
  readonly runtime: Runtime;
  /** The local wall clock in epoch ms, used until the server's is known. Default: `Date.now()`. */
  readonly epochGuess?: number;
  /** The connection for commands became usable or ceased to be; once per change. The first change comes from `open()`. */
  readonly onState?: StateListener;
  /** The same for the connection that wake-ups arrive on. */
  readonly onPush?: StateListener;
}

const OPEN_MS = 1000;

/** @throws ConfigurationError for a connection that can't be used; never because Redis is away */
export async function createRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
  return new RedisStore(connect(options.connection), options);
}

/** The {@link Store} on Redis or Valkey. While there is no connection every command rejects at once with StoreUnavailable. */
export class RedisStore implements Store {
  readonly kind = 'redis';
  private readonly names: KeyNames;
  private readonly channel: string;
  private readonly clock: ServerClock;
  private readonly scripts: ScriptCalls;
  private readonly link: CommandLink;
  private readonly wakeUp: WakeUp;
  private readonly runtime: Runtime;

  constructor({ client, owned }: Connected, options: RedisStoreOptions) {
    const { runtime, namespace, onState = ignore, onPush = ignore } = options;
    this.runtime = runtime;
    this.names = new KeyNames(namespace);
    this.channel = this.names.channel(client);
    this.clock = new ServerClock(runtime.clock, options.epochGuess ?? Date.now());
    this.wakeUp = new WakeUp({ client, channel: this.channel, runtime, onPush });
    this.link = new CommandLink({
      client,
      owned,
      runtime,
      onTime: (sentAt, serverNow) => this.clock.sample(sentAt, serverNow),
      onState: (state, reason) => {
        if (state === 'up') this.wakeUp.commandsUp();
        else this.wakeUp.commandsDown();
        onState(state, reason);
      },
    });
    this.scripts = new ScriptCalls({
      link: this.link,
      runner: new ScriptRunner(client),
      names: this.names,
      serverClock: this.clock,
      clock: runtime.clock,
    });
  }

  /** Why the server that answered is not used (its version), once that is known. */
  get refusal(): string | undefined {
    return this.link.refusal;
  }

  /** Whether a command sent now would go to the socket. */
  isUp(): boolean {
    return this.link.usable;
  }

  now(): number {
    return this.clock.now();
  }

  async read(key: EntryKey): Promise<Buffer | null> {
    return this.link.use().getBuffer(this.names.data(key));
  }

  async acquire(key: EntryKey, request: AcquireRequest): Promise<AcquireReply> {
    const { token, leaseMs, holder, mode, willWait, rejectedId, hasStale, waitedOn } = request;
    const args = [token, wholeMs(leaseMs), holder, flag(mode === 'probe'), flag(willWait)];
    const reply = await this.scripts.timed(
      ACQUIRE,
      this.entryKeys(key),
      [...args, Buffer.from(rejectedId, 'latin1'), flag(hasStale), waitedOn],
      1,
    );
    return acquireReply(reply);
  }

  async commit(key: EntryKey, request: CommitRequest): Promise<CommitReply> {
    const wakes = [publishedMessage(key.id), endedMessage(key.id, request.token, '')];
    const args = [request.token, wholeMs(request.hardMs), this.channel, ...wakes];
    return commitReply(await this.scripts.staged(COMMIT, key, request, args));
  }

  async touch(key: EntryKey, { token, entryId, head, hardMs }: TouchRequest): Promise<TouchReply> {
    const args = [token, entryId, head, wholeMs(hardMs), this.channel, publishedMessage(key.id)];
    return touchReply(await this.scripts.run(TOUCH, this.entryKeys(key), args));
  }

  async renew(key: EntryKey, token: string, leaseMs: number): Promise<LeaseState> {
    const [held, contended] = await this.scripts.timed(
      RENEW,
      [this.names.lease(key)],
      [token, wholeMs(leaseMs)],
      2,
    );
    return { held: Number(held) === 1, contended: Number(contended) === 1 };
  }

  async release(key: EntryKey, { token, outcome, backoff }: ReleaseRequest): Promise<boolean> {
    const { baseMs, capMs, scale } = backoff ?? { baseMs: 0, capMs: 0, scale: 0 };
    const args = [token, outcome, baseMs, capMs, scale, this.channel, endedMessage(key.id, token, outcome)];
    const [ours] = await this.scripts.timed(RELEASE, this.entryKeys(key), args, 1);
    return Number(ours) === 1;
  }

  async put(key: EntryKey, request: PutRequest): Promise<'stored' | 'late'> {
    const { token, hardMs, notAfter } = request;
    const args = [token, wholeMs(hardMs), Math.floor(notAfter), this.channel, publishedMessage(key.id)];
    const code = await this.scripts.staged(PUT, key, request, args);
    if (code === 3) throw new Error('The staged value vanished before it could be put in place');
    return code === 0 ? 'late' : 'stored';
  }

  async write(key: EntryKey, bytes: Buffer, hardMs: number): Promise<void> {
    await this.link.use().set(this.names.data(key), bytes, 'PX', wholeMs(hardMs));
  }

  async invalidate(key: EntryKey): Promise<void> {
    const message = invalidatedMessage(key.id);
    try {
      await this.scripts.run(INVALIDATE, this.entryKeys(key), [this.channel, message]);
    } catch (error) {
      if (!isResharding(error)) throw error;
      // While a slot moves, scripts with two keys fail and single-key commands work. In this order it is as safe.
      const client = this.link.use();
      await client.unlink(this.names.lease(key));
      await client.unlink(this.names.data(key));
      await client.publish(this.channel, message).catch(ignore);
    }
  }

  async peek(key: EntryKey): Promise<StoredFacts> {
    const [bytes, facts] = await Promise.all([
      this.read(key),
      this.scripts.timed(FACTS, this.entryKeys(key), [], 0),
    ]);
    const [now, ttlMs, value, expiresIn] = facts;
    const lease = parseLiveLease(String(value));
    return {
      bytes,
      ttlMs: bytes === null ? 0 : Math.max(0, Number(ttlMs)),
      now: Number(now),
      ...(lease !== undefined && { lease: { ...lease, expiresIn: Math.max(0, Number(expiresIn)) } }),
    };
  }

  listen(key: EntryKey, onWake: (wake: Wake) => void): Cancel {
    return this.wakeUp.listen(key.id, onWake);
  }

  pushUp(): boolean {
    return this.wakeUp.up;
  }

  async open(): Promise<void> {
    let cancel: Cancel | undefined;
    const bound = new Promise<void>((resolve) => {
      cancel = this.runtime.timers.after(OPEN_MS, resolve);
    });
    await Promise.race([Promise.all([this.link.open(), this.wakeUp.open()]), bound]);
    cancel?.();
    this.link.giveUpWaiting();
  }

  async close(): Promise<void> {
    this.wakeUp.close();
    await this.link.close();
  }

  private entryKeys(key: EntryKey): [data: string, lease: string] {
    return [this.names.data(key), this.names.lease(key)];
  }
}

const flag = (value: boolean): '1' | '0' => (value ? '1' : '0');

function ignore(): void {
  // nobody asked to be told
}
