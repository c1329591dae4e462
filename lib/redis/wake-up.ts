import type { Cancel, Runtime } from '../core/ports.js';
import type { Signal, Wake } from '../core/store.js';
import { ClusterBeats } from './cluster-beats.js';
import { Heartbeat, type Beat } from './heartbeat.js';
import { KeyTracking, type TrackedKeys } from './key-tracking.js';
import { Listeners } from './listeners.js';
import { reasonOf } from './redact.js';
import { isCluster, type ClientLike, type SingleLike } from './redis-like.js';
import { Subscriber, type Channels } from './subscriber.js';

export interface WakeUpOptions {
  readonly client: ClientLike;
  readonly channel: string;
  readonly runtime: Runtime;
  /** How old the proof of {@link WakeUp.toldUntil} may be, ms; a subscriber that owes one for longer is replaced. */
  readonly maxLag: number;
  /** What an announced epoch may be at most, server ms. */
  readonly latestEpoch: () => number;
  readonly onPush: (state: 'up' | 'down', reason: string) => void;
  /** Has the server itself tell of changes of entries' keys. Not a Cluster, of which only one server is listened to. */
  readonly tracked?: TrackedKeys | undefined;
}

interface NodeAddress {
  readonly host?: unknown;
  readonly port?: unknown;
}

const NO_TRACKING =
  "coherence.mode 'tracking' needs one server, and this is a Cluster: copies (l1) are kept true by this package's own messages alone.";
const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 5000;
/** A server that accepts a connection and stays silent would keep the subscriber for ever. */
const SUBSCRIBE_MS = 10_000;

/**
 * Wake-ups and signals pushed by the server over one channel and one connection of its own. Whenever messages may have been
 * missed, and when they will be, every waiter hears `unknown` and every watcher `gap`.
 */
export class WakeUp {
  private readonly listeners: Listeners;
  private readonly heartbeat: Heartbeat;
  private readonly clusterBeats: ClusterBeats | undefined;
  private readonly channels: Channels;
  private readonly tracking: KeyTracking | undefined;
  private subscriber: Subscriber | undefined;
  private suspect = false;
  private isUp = false;
  private failures = 0;
  private attempts = 0;
  /** The next attempt, or the end of the present one. */
  private cancelTimer: Cancel | undefined;
  private started = false;
  private closed = false;
  private readonly settled: (() => void)[] = [];

  constructor(private readonly options: WakeUpOptions) {
    const { client, channel, runtime, maxLag } = options;
    const beats = `${channel}:${runtime.random.token()}`;
    this.clusterBeats = isCluster(client)
      ? new ClusterBeats(client, beats, runtime.clock, maxLag / 2)
      : undefined;
    this.channels = { messages: channel, beats: this.clusterBeats === undefined ? undefined : beats };
    this.listeners = new Listeners(runtime.log, options.latestEpoch);
    this.tracking = this.trackingOf(options);
    this.heartbeat = new Heartbeat({
      runtime,
      maxLag,
      send: () => this.beat(),
      onDead: (reason) => this.down(reason),
    });
  }

  get up(): boolean {
    return this.isUp;
  }

  /** Resolves when the first attempt to subscribe has succeeded or failed. */
  open(): Promise<void> {
    if (this.isUp || this.closed) return Promise.resolve();
    const first = new Promise<void>((resolve) => this.settled.push(resolve));
    if (!this.started) {
      this.started = true;
      if (isCluster(this.options.client)) this.options.client.on('-node', this.onNodeGone);
      this.connect();
    }
    return first;
  }

  listen(id: string, listener: (wake: Wake) => void): Cancel {
    return this.listeners.wait(id, listener);
  }

  watch(listener: (signal: Signal) => void): Cancel {
    return this.listeners.watch(listener);
  }

  /** The monotonic time up to which every message was handed over; -Infinity: uncertain. */
  toldUntil(now?: number): number {
    const told = this.heartbeat.ask(now);
    return this.isUp && !this.suspect ? told : -Infinity;
  }

  /** The commands' connection broke: the subscriber may sit on a server that is no longer the master. */
  commandsDown(): void {
    this.suspect = true;
    if (this.subscriber === undefined) this.settle();
  }

  /** The commands' connection is ready: follow it. */
  commandsUp(): void {
    if (!this.started || this.closed) return;
    if (this.subscriber !== undefined && this.suspect) this.drop('following the command connection');
    if (this.subscriber === undefined) this.connect();
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.isUp = false;
    this.cancelTimer?.();
    this.tracking?.cancel();
    this.heartbeat.stop();
    if (isCluster(this.options.client)) this.options.client.off('-node', this.onNodeGone);
    this.subscriber?.close();
    this.subscriber = undefined;
    this.listeners.clear();
    this.settle();
  }

  private trackingOf({ client, runtime, tracked }: WakeUpOptions): KeyTracking | undefined {
    if (tracked === undefined) return undefined;
    if (isCluster(client)) {
      runtime.log.warn(NO_TRACKING);
      return undefined;
    }
    const onChange = (place: string): void => this.listeners.changed(place);
    return new KeyTracking({ ...tracked, client, runtime, onChange, onFlush: () => this.listeners.gap() });
  }

  private connect(): void {
    this.cancelTimer?.();
    this.suspect = false;
    const { client } = this.options;
    // A Cluster knows no nodes before it is ready; `commandsUp` comes then, most likely before the retry.
    if (isCluster(client) && client.status !== 'ready') return this.retryLater();
    const source = this.source();
    if (source === undefined) return this.down('no master of the cluster is known yet');
    try {
      const events = {
        onUp: (): void => this.arrived(),
        onMessage: (text: string): void => this.listeners.receive(text),
        onBeat: (text: string): void => this.clusterBeats?.receive(text),
        onDown: (reason: string): void => this.down(reason),
      };
      this.subscriber = new Subscriber(source, this.channels, events, this.tracking);
      const late = (): void => this.down(`not subscribed within ${SUBSCRIBE_MS} ms`);
      this.cancelTimer = this.options.runtime.timers.after(SUBSCRIBE_MS, late, true);
    } catch (error) {
      this.down(reasonOf(error));
    }
  }

  /** In a Cluster any master will do, PUBLISH reaches them all; another one at each attempt. */
  private source(): SingleLike | undefined {
    const { client, runtime } = this.options;
    if (!isCluster(client)) return client;
    const masters = client.nodes('master');
    if (this.attempts === 0) this.attempts = Math.floor(runtime.random.next() * masters.length);
    return masters[this.attempts++ % masters.length];
  }

  private arrived(): void {
    this.cancelTimer?.();
    this.failures = 0;
    this.isUp = true;
    this.settle();
    this.options.onPush('up', 'subscribed');
    this.heartbeat.begin();
    this.listeners.gap();
    this.tracking?.prove();
  }

  private down(reason: string): void {
    this.drop(reason);
    this.settle();
    if (!this.closed) this.retryLater();
  }

  private retryLater(): void {
    const delay = Math.min(FIRST_RETRY_MS * 2 ** this.failures++, LAST_RETRY_MS);
    const { random, timers } = this.options.runtime;
    this.cancelTimer = timers.after(delay * (0.5 + random.next() / 2), () => this.connect(), true);
  }

  private drop(reason: string): void {
    this.cancelTimer?.();
    this.tracking?.cancel();
    this.subscriber?.close();
    this.subscriber = undefined;
    const wasUp = this.isUp;
    this.isUp = false;
    if (wasUp || this.failures === 0) this.options.onPush('down', reason);
    this.heartbeat.gap();
    // They must not go on waiting for a push that can't come.
    if (wasUp) this.listeners.gap();
  }

  private readonly onNodeGone = (node: unknown): void => {
    const { host, port } = (node as SingleLike).options as NodeAddress; // what ioredis sends with `-node`
    if (!this.subscriber?.isAt(host, port)) return;
    this.drop('the node left the cluster');
    this.connect();
  };

  private beat(): Beat | undefined {
    if (!this.isUp || this.subscriber === undefined) return undefined;
    if (this.clusterBeats !== undefined) return this.clusterBeats.send();
    return { answered: this.subscriber.ping(), isOverdue: () => true };
  }

  private settle(): void {
    for (const resolve of this.settled.splice(0)) resolve();
  }
}
