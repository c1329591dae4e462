import { INVALIDATIONS, type KeyTracking } from './key-tracking.js';
import type { SingleLike } from './redis-like.js';
import { reasonOf } from './redact.js';

export interface SubscriberEvents {
  /** Subscribed: from here on no message is missed. */
  onUp(): void;
  onMessage(text: string): void;
  /** What came over the channel of beats. */
  onBeat(text: string): void;
  /** The connection is gone for good, or never came to be. Called once, not after `close()`. */
  onDown(reason: string): void;
}

export interface Channels {
  readonly messages: string;
  /** Only on a Cluster, and dispensable: a user may have no right to it. */
  readonly beats: string | undefined;
}

/**
 * One connection that listens for messages, for one life: it is never reconnected, its owner makes another. That leaves
 * no state in which ioredis holds promises or subscriptions of its own.
 */
export class Subscriber {
  private readonly connection: SingleLike;
  private over = false;
  private lastError = 'the connection was closed';

  constructor(
    source: SingleLike,
    private readonly channels: Channels,
    private readonly events: SubscriberEvents,
    /** Undefined: the server itself is not asked to tell of keys. */
    private readonly tracking?: KeyTracking,
  ) {
    this.connection = source.duplicate(OWN_OPTIONS);
    this.connection.on('error', (error: unknown) => {
      this.lastError = reasonOf(error);
    });
    this.connection.on('message', (channel: unknown, text: unknown) => {
      if (this.over || channel === INVALIDATIONS) return;
      if (channel === channels.beats) this.events.onBeat(String(text));
      else this.events.onMessage(String(text));
    });
    if (tracking !== undefined) {
      // Names of keys come as a list, which the event for texts would make one text of.
      this.connection.on('messageBuffer', (channel: unknown, keys: unknown) => {
        if (!this.over && String(channel) === INVALIDATIONS) tracking.receive(keys);
      });
    }
    // ioredis 5.8 to 5.11 lose a SUBSCRIBE that is sent before `ready`.
    this.connection.on('ready', () => void this.subscribe());
    this.connection.on('end', () => this.down(this.lastError));
    this.connection.connect().catch((error: unknown) => this.down(reasonOf(error)));
  }

  /** Whether this is a connection to that very server. */
  isAt(host: unknown, port: unknown): boolean {
    const own = this.connection.options as { readonly host?: unknown; readonly port?: unknown };
    return own.host === host && own.port === port;
  }

  /** Its answer follows every message that the server sent before it. Never settles once the connection is closed. */
  ping(): Promise<unknown> {
    return this.connection.ping();
  }

  /** Nothing is awaited: promises of a disconnected client may never settle. */
  close(): void {
    this.over = true;
    this.connection.disconnect();
  }

  private async subscribe(): Promise<void> {
    try {
      const { messages, beats } = this.channels;
      await this.tracking?.arm(this.connection);
      await this.connection.subscribe(messages);
      if (beats !== undefined) await this.connection.subscribe(beats).catch(() => undefined);
      if (!this.over) this.events.onUp();
    } catch (error) {
      this.down(reasonOf(error));
    }
  }

  private down(reason: string): void {
    if (this.over) return;
    this.close();
    this.events.onDown(reason);
  }
}

/**
 * What must differ from the client this is a duplicate of. RESP2, because ioredis 6 treats subscribers on RESP3
 * differently; no reconnecting by ioredis, see above; the offline queue on and no command timeout, because a duplicate
 * copies whatever the application chose for its own commands.
 */
const OWN_OPTIONS = {
  protocol: 2,
  lazyConnect: true,
  autoResubscribe: false,
  autoResendUnfulfilledCommands: false,
  enableAutoPipelining: false,
  enableOfflineQueue: true,
  readOnly: false,
  failoverDetector: false,
  retryStrategy: (): null => null,
  reconnectOnError: null,
  commandTimeout: undefined,
  socketTimeout: undefined,
  connectTimeout: 5000,
  disconnectTimeout: 100,
  keepAlive: 10_000,
} as const;
