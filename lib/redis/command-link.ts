import type { Cancel, Runtime } from '../core/ports.js';
import { reasonOf } from './redact.js';
import { isCluster, type ClientLike } from './redis-like.js';
import { refusedVersion } from './server-version.js';
import { StoreUnavailable } from './store-unavailable.js';
import { Writes } from './writes.js';

export interface CommandLinkOptions {
  readonly client: ClientLike;
  /** Made by this package: closed with it. */
  readonly owned: boolean;
  readonly runtime: Runtime;
  /** A reply to TIME: when it was asked for, and what it said. */
  readonly onTime: (sentAt: number, serverNow: number) => void;
  /** Once per change. */
  readonly onState: (state: 'up' | 'down', reason: string) => void;
}

const QUIT_MS = 1000;
/** How long a server that accepted the connection may take until it is ready, ms. ioredis itself would wait for ever. */
const READY_MS = 3000;

/**
 * The connection for commands: whether it can be used right now, what the server is, and who closes it. Everything ioredis
 * would queue, retry or wait for without a bound is kept away from it.
 */
export class CommandLink {
  private version: string | undefined;
  private unselected: string | undefined;
  private state: 'up' | 'down' | undefined;
  private lastError: string | undefined;
  private verified = false;
  private started = false;
  private closing: Promise<void> | undefined;
  private readonly writes = new Writes();
  private readonly settled: (() => void)[] = [];
  private cancelWatch: Cancel = () => undefined;

  constructor(private readonly options: CommandLinkOptions) {}

  /** Why this server is not used although it answers. */
  get refusal(): string | undefined {
    return this.version ?? this.unselected;
  }

  get usable(): boolean {
    return this.closing === undefined && this.refusal === undefined && this.options.client.status === 'ready';
  }

  /** Why no command can be sent now. */
  get obstacle(): string | undefined {
    const { status } = this.options.client;
    if (this.closing !== undefined) return 'The cache is closed';
    if (this.refusal !== undefined) return this.refusal;
    return status === 'ready' ? undefined : `Redis is not connected (${status}${this.because()})`;
  }

  /** The client, if a command sent now goes straight to the socket. @throws StoreUnavailable */
  use(): ClientLike {
    const { obstacle } = this;
    if (obstacle !== undefined) throw new StoreUnavailable(obstacle);
    const { client } = this.options;
    this.writes.gather(client);
    return client;
  }

  /** Resolves when the server was verified or the first attempt to reach it has failed. */
  open(): Promise<void> {
    if (this.state !== undefined || this.closing !== undefined) return Promise.resolve();
    const first = new Promise<void>((resolve) => this.settled.push(resolve));
    if (!this.started) this.start();
    return first;
  }

  /** The bound of `open` has passed. */
  giveUpWaiting(): void {
    if (this.state === undefined) this.report('down', `no answer yet${this.because()}`);
  }

  /** Connects anew: the socket may be dead and look alive. An instance handed in is left to its owner. */
  renew(): void {
    const { client, owned } = this.options;
    if (!owned || this.closing !== undefined || client.status !== 'ready') return;
    this.lastError = 'it did not answer, connecting anew';
    client.disconnect(true);
  }

  close(): Promise<void> {
    this.closing ??= this.shut();
    return this.closing;
  }

  private start(): void {
    const { client } = this.options;
    this.started = true;
    if (!isCluster(client)) client.on('connect', this.onConnect);
    client.on('error', this.onError);
    client.on('ready', this.onReady);
    client.on('close', this.onClose);
    client.on('end', this.onClose);
    if (isCluster(client)) client.on('node error', this.onError);
    if (client.status === 'ready') this.onReady();
    else if (client.status === 'end') this.onClose();
    // `wait`: a lazy client, which only a command would wake, and none is sent before `ready`.
    else if (client.status === 'wait') client.connect().catch(ignore);
  }

  private readonly onError = (error: unknown): void => {
    this.lastError = reasonOf(error);
    // ioredis goes on in database 0, among what others keep there.
    if (isOfSelect(error)) this.unselected = `its database can't be selected (${this.lastError})`;
  };

  /** A frozen server, or a path that swallows every byte: it accepts connections and never says what it is. */
  private readonly onConnect = (): void => {
    this.cancelWatch();
    this.unselected = undefined;
    const { client, owned, runtime } = this.options;
    if (!owned) return;
    this.cancelWatch = runtime.timers.after(READY_MS, () => client.disconnect(true), true);
  };

  private readonly onReady = (): void => {
    this.cancelWatch();
    void this.verify();
  };

  private readonly onClose = (): void => {
    this.cancelWatch();
    if (this.options.client.status !== 'ready')
      this.report('down', this.lastError ?? 'the connection was closed');
  };

  private async verify(): Promise<void> {
    const { client, runtime, onTime } = this.options;
    const sentAt = runtime.clock.now();
    const [time, info] = await Promise.allSettled([
      client.call('TIME'),
      this.verified ? '' : client.call('INFO', 'server'),
    ]);
    if (this.closing !== undefined || client.status !== 'ready') return;
    if (time.status === 'fulfilled') onTime(sentAt, epochMs(time.value));
    if (info.status === 'rejected') {
      runtime.log.warn(`The version of the Redis server could not be asked for: ${reasonOf(info.reason)}`);
    } else if (!this.verified) {
      this.version = refusedVersion(String(info.value));
    }
    this.verified = true;
    if (this.refusal === undefined) this.report('up', 'connected');
    else this.report('down', this.refusal);
  }

  private report(state: 'up' | 'down', reason: string): void {
    for (const resolve of this.settled.splice(0)) resolve();
    if (state === 'up') this.lastError = undefined;
    if (this.state === state || this.closing !== undefined) return;
    this.state = state;
    this.options.onState(state, reason);
  }

  private because(): string {
    return this.lastError === undefined ? '' : `: ${this.lastError}`;
  }

  private async shut(): Promise<void> {
    const { client, owned } = this.options;
    for (const resolve of this.settled.splice(0)) resolve();
    this.cancelWatch();
    client.off('connect', this.onConnect);
    client.off('ready', this.onReady);
    client.off('close', this.onClose);
    client.off('end', this.onClose);
    if (isCluster(client)) client.off('node error', this.onError);
    if (!owned) {
      client.off('error', this.onError);
      return;
    }
    // Ours keeps its `error` listener: without one ioredis prints what happens to a dying socket.
    if (client.status === 'ready') await this.quit(client);
    client.disconnect();
  }

  private async quit(client: ClientLike): Promise<void> {
    let cancel: Cancel | undefined;
    const late = new Promise<void>((resolve) => {
      cancel = this.options.runtime.timers.after(QUIT_MS, resolve);
    });
    await Promise.race([client.quit().catch(() => undefined), late]);
    cancel?.();
  }
}

/** What a first connection fails with is an `error` event too, which says more. */
function ignore(): void {}

/** Errors of commands that ioredis sends by itself carry them. */
function isOfSelect(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('command' in error)) return false;
  const { command } = error as { readonly command?: { readonly name?: unknown } }; // as ioredis has it
  return command?.name === 'select';
}

/** TIME answers seconds and microseconds. */
function epochMs(reply: unknown): number {
  const [seconds, micros] = Array.isArray(reply) ? reply : [];
  return Number(seconds) * 1000 + Number(micros) / 1000;
}
