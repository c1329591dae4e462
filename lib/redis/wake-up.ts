import type { Cancel, Runtime } from '../core/ports.js';
import type { Wake } from '../core/store.js';
import { reasonOf } from './redact.js';
import { isCluster, type ClientLike, type SingleLike } from './redis-like.js';
import { Subscriber } from './subscriber.js';
import { parseWakeMessage } from './wake-message.js';

export interface WakeUpOptions {
  readonly client: ClientLike;
  readonly channel: string;
  readonly runtime: Runtime;
  readonly onPush: (state: 'up' | 'down', reason: string) => void;
}

interface NodeAddress {
  readonly host?: unknown;
  readonly port?: unknown;
}

type Listener = (wake: Wake) => void;

const FIRST_RETRY_MS = 50;
const LAST_RETRY_MS = 5000;

/**
 * Wake-ups pushed by the server over one channel and one connection of its own. Whenever messages may have been missed,
 * and when they will be, every listener hears `unknown`.
 */
export class WakeUp {
  private readonly listeners = new Map<string, Set<Listener>>();
  private subscriber: Subscriber | undefined;
  private suspect = false;
  private isUp = false;
  private failures = 0;
  private attempts = 0;
  private cancelRetry: Cancel | undefined;
  private started = false;
  private closed = false;
  private readonly settled: (() => void)[] = [];

  constructor(private readonly options: WakeUpOptions) {}

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

  listen(id: string, listener: Listener): Cancel {
    const known = this.listeners.get(id) ?? new Set();
    // A wrapper per call: one function registered twice is two registrations.
    const own: Listener = (wake) => listener(wake);
    this.listeners.set(id, known.add(own));
    return () => {
      known.delete(own);
      if (known.size === 0 && this.listeners.get(id) === known) this.listeners.delete(id);
    };
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
    this.cancelRetry?.();
    if (isCluster(this.options.client)) this.options.client.off('-node', this.onNodeGone);
    this.subscriber?.close();
    this.subscriber = undefined;
    this.listeners.clear();
    this.settle();
  }

  private connect(): void {
    this.cancelRetry?.();
    this.cancelRetry = undefined;
    this.suspect = false;
    const { client } = this.options;
    // A Cluster knows no nodes before it is ready; `commandsUp` comes then, most likely before the retry.
    if (isCluster(client) && client.status !== 'ready') return this.retryLater();
    const source = this.source();
    if (source === undefined) return this.down('no master of the cluster is known yet');
    try {
      this.subscriber = new Subscriber(source, this.options.channel, {
        onUp: () => this.arrived(),
        onMessage: (text) => this.receive(text),
        onDown: (reason) => this.down(reason),
      });
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
    this.failures = 0;
    this.isUp = true;
    this.settle();
    this.options.onPush('up', 'subscribed');
    this.wakeAll();
  }

  private down(reason: string): void {
    this.drop(reason);
    this.settle();
    if (!this.closed) this.retryLater();
  }

  private retryLater(): void {
    const delay = Math.min(FIRST_RETRY_MS * 2 ** this.failures++, LAST_RETRY_MS);
    const { random, timers } = this.options.runtime;
    this.cancelRetry = timers.after(delay * (0.5 + random.next() / 2), () => this.connect(), true);
  }

  private drop(reason: string): void {
    this.subscriber?.close();
    this.subscriber = undefined;
    const wasUp = this.isUp;
    this.isUp = false;
    if (wasUp || this.failures === 0) this.options.onPush('down', reason);
    // They must not go on waiting for a push that can't come.
    if (wasUp) this.wakeAll();
  }

  private readonly onNodeGone = (node: unknown): void => {
    const { host, port } = (node as SingleLike).options as NodeAddress; // what ioredis sends with `-node`
    if (!this.subscriber?.isAt(host, port)) return;
    this.drop('the node left the cluster');
    this.connect();
  };

  private receive(text: string): void {
    const message = parseWakeMessage(text);
    if (message !== undefined) this.tell(this.listeners.get(message.id), message.wake);
  }

  private wakeAll(): void {
    // Copies: whoever is woken may listen again at once.
    for (const set of Array.from(this.listeners.values())) this.tell(set, { kind: 'unknown' });
  }

  private tell(set: ReadonlySet<Listener> | undefined, wake: Wake): void {
    for (const listener of Array.from(set ?? [])) {
      try {
        listener(wake);
      } catch (error) {
        this.options.runtime.log.warn(`A waiter failed on its wake-up: ${reasonOf(error)}`);
      }
    }
  }

  private settle(): void {
    for (const resolve of this.settled.splice(0)) resolve();
  }
}
