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
  Signal,
  Store,
  StoredFacts,
  TagState,
  Target,
  TouchReply,
  TouchRequest,
  Wake,
} from '../core/store.js';
import { acquireReply, commitReply, touchReply, wholeMs } from './replies.js';
import { CommandLink } from './command-link.js';
import { connect, type Connected } from './connect.js';
import { EntryChanges } from './entry-changes.js';
import { KeyNames } from './key-names.js';
import { storedFacts } from './stored-facts.js';
import { endedMessage, publishedMessage } from './message.js';
import { readOnlyAdvice } from './read-only-advice.js';
import { readAllBytes, readBytes } from './read-string.js';
import { RedisEpochs } from './redis-epochs.js';
import { RedisTags } from './redis-tags.js';
import { clockSkewOf, isCluster } from './redis-like.js';
import type { RedisStoreOptions } from './redis-store-options.js';
import { RedisVariants } from './redis-variants.js';
import { ScriptCalls } from './script-calls.js';
import { ScriptRunner } from './script-runner.js';
import { ACQUIRE, COMMIT, FACTS, PUT, RELEASE, RENEW, TOUCH } from './scripts/index.js';
import { ServerClock } from './server-clock.js';
import { Servers } from './servers.js';
import { sourceVersion } from './source-version.js';
import { WakeUp } from './wake-up.js';

const OPEN_MS = 1000;

/** @throws ConfigurationError for a connection that can't be used; never because Redis is away */
export async function createRedisStore(options: RedisStoreOptions): Promise<RedisStore> {
  return new RedisStore(connect(options.connection), options);
}

/** The {@link Store} on Redis or Valkey. While there is no connection every command rejects at once with StoreUnavailable. */
export class RedisStore implements Store {
  readonly kind = 'redis';
  readonly clockSkew: number;
  readMany: Store['readMany'];
  private readonly names: KeyNames;
  private readonly channel: string;
  private readonly clock: ServerClock;
  private readonly scripts: ScriptCalls;
  private readonly link: CommandLink;
  private readonly wakeUp: WakeUp;
  private readonly changes: EntryChanges;
  private readonly tagKeys: RedisTags;
  private readonly epochKey: RedisEpochs;
  private readonly variantKeys: RedisVariants;
  private readonly servers: Servers;
  private readonly runtime: Runtime;

  constructor({ client, owned }: Connected, options: RedisStoreOptions) {
    const { runtime, namespace, maxLag = 1000, onState = ignore, onPush = ignore } = options;
    this.runtime = runtime;
    this.clockSkew = clockSkewOf(client);
    if (!isCluster(client)) this.readMany = (keys) => this.readAll(keys);
    this.names = new KeyNames(namespace);
    const channel = (this.channel = this.names.channel(client));
    this.clock = new ServerClock(runtime.clock, options.epochGuess ?? Date.now());
    const latestEpoch = (): number => this.epochKey.latest();
    const tracked = options.tracking === true ? this.names.entries(client) : undefined;
    this.wakeUp = new WakeUp({ client, channel, runtime, maxLag, latestEpoch, onPush, tracked });
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
    this.servers = new Servers(client, owned, this.names, () => this.link.renew());
    this.scripts = new ScriptCalls({
      link: this.link,
      runner: new ScriptRunner(client, readOnlyAdvice(client, owned, runtime.log)),
      names: this.names,
      serverClock: this.clock,
      clock: runtime.clock,
    });
    const { scripts, link, names, clock } = this;
    this.changes = new EntryChanges(scripts, link, names, channel);
    this.tagKeys = new RedisTags(scripts, link, names, channel, runtime.random, clock);
    this.epochKey = new RedisEpochs(scripts, link, names, channel, runtime.random, clock);
    this.variantKeys = new RedisVariants(scripts, link, names);
  }

  /** Why the server that answered is not used (its version), once that is known. */
  get refusal(): string | undefined {
    return this.link.refusal;
  }

  /** Whether a command sent now would go to the socket. */
  isUp(): boolean {
    return this.link.usable;
  }

  now(at?: number): number {
    return this.clock.now(at);
  }

  /** Not `async`: every hit comes this way. */
  read(key: EntryKey): Promise<Buffer | null> {
    try {
      return readBytes(this.link.use(), this.names.data(key));
    } catch (error) {
      return Promise.reject(error as Error); // what `use` throws
    }
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
    const waiting = this.names.waiting(key);
    const wakes = [publishedMessage(waiting), endedMessage(waiting, request.token, '')];
    const version = sourceVersion(request.bytes);
    const rejectedId = Buffer.from(request.rejectedId, 'latin1');
    const args = [request.token, wholeMs(request.hardMs), this.channel, ...wakes, version, rejectedId];
    return commitReply(await this.scripts.staged(COMMIT, key, request, args));
  }

  async touch(key: EntryKey, { token, entryId, head, hardMs }: TouchRequest): Promise<TouchReply> {
    const args = [token, entryId, head, wholeMs(hardMs), this.channel, this.published(key)];
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
    const ended = endedMessage(this.names.waiting(key), token, outcome);
    const args = [token, outcome, baseMs, capMs, scale, this.channel, ended];
    const [ours] = await this.scripts.timed(RELEASE, this.entryKeys(key), args, 1);
    return Number(ours) === 1;
  }

  async put(key: EntryKey, request: PutRequest): Promise<'stored' | 'late'> {
    const { token, hardMs, notAfter } = request;
    const args = [token, wholeMs(hardMs), Math.floor(notAfter), this.channel, this.published(key)];
    const code = await this.scripts.staged(PUT, key, request, args);
    if (code === 3) throw new Error('The staged value vanished before it could be put in place');
    return code === 0 ? 'late' : 'stored';
  }

  async write(key: EntryKey, bytes: Buffer, hardMs: number): Promise<void> {
    await this.link.use().set(this.names.data(key), bytes, 'PX', wholeMs(hardMs));
  }

  async invalidate(key: EntryKey, holdOffMs: number): Promise<void> {
    await this.changes.invalidate(key, holdOffMs);
  }

  async expire(key: EntryKey): Promise<void> {
    await this.changes.expire(key);
  }

  async peek(key: EntryKey): Promise<StoredFacts> {
    const [bytes, facts] = await Promise.all([
      this.read(key),
      this.scripts.timed(FACTS, this.entryKeys(key), [], 0),
    ]);
    return storedFacts(bytes, facts);
  }

  listen(key: EntryKey, onWake: (wake: Wake) => void): Cancel {
    return this.wakeUp.listen(this.names.waiting(key), onWake);
  }

  pushUp(): boolean {
    return this.wakeUp.up;
  }

  tags(ids: readonly string[]): Promise<readonly (TagState | undefined)[]> {
    return this.tagKeys.read(ids);
  }

  holdTags(ids: readonly string[], lifeMs: number): Promise<readonly TagState[]> {
    return this.tagKeys.hold(ids, lifeMs);
  }

  invalidateTag(id: string, holdOffMs: number): Promise<TagState> {
    return this.tagKeys.invalidate(id, holdOffMs);
  }

  expireTag(id: string): Promise<void> {
    return this.tagKeys.expire(id);
  }

  async epochs(): Promise<ReadonlyMap<string, number>> {
    return this.epochKey.read();
  }

  async clear(scope: string): Promise<number> {
    return this.epochKey.clear(scope);
  }

  async raiseEpochs(epochs: ReadonlyMap<string, number>): Promise<void> {
    await this.epochKey.raise(epochs);
  }

  async variants(name: string): Promise<readonly string[]> {
    return this.variantKeys.read(name);
  }

  async announce(name: string, variant: string, lifeMs: number): Promise<void> {
    await this.variantKeys.announce(name, variant, lifeMs);
  }

  watch(onSignal: (signal: Signal) => void): Cancel {
    return this.wakeUp.watch(onSignal);
  }

  toldUntil(now?: number): number {
    return this.wakeUp.toldUntil(now);
  }

  obstacle(): string | undefined {
    return this.link.obstacle;
  }

  serverOf(target: Target): string | undefined {
    return this.servers.of(target);
  }

  async probe(server: string): Promise<void> {
    this.link.use();
    await this.servers.probe(server);
  }

  reconnect(server: string): void {
    this.servers.reconnect(server);
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

  /** A user without the right to `MGET` gets them one by one, from now on. */
  private readAll(keys: readonly EntryKey[]): Promise<(Buffer | null)[]> {
    const refused = (): void => (this.readMany = undefined);
    return readAllBytes(() => this.link.use(), this.names.all(keys), refused);
  }

  private published(key: EntryKey): string {
    return publishedMessage(this.names.waiting(key));
  }

  private entryKeys(key: EntryKey): [data: string, lease: string] {
    return [this.names.data(key), this.names.lease(key)];
  }
}

const flag = (value: boolean): '1' | '0' => (value ? '1' : '0');
/** Nobody asked to be told. */
const ignore = (): void => undefined;
