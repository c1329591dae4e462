import { isAnswer } from '../core/gate/index.js';
import { nothing } from '../core/nothing.js';
import type { Cancel, Runtime } from '../core/ports.js';
import { reasonOf } from './redact.js';
import type { SingleLike } from './redis-like.js';

/** Where a connection that redirects its invalidations to itself finds them. */
export const INVALIDATIONS = '__redis__:invalidate';

/** How long the server may take to tell of the key that was written to prove that it does, ms. */
const PROOF_MS = 500;

/** Of no entry: every id has a `:`. */
const PROBE = '{~probe}';

/** What begins the names of all entries' keys. */
export interface TrackedKeys {
  /** What the client puts before each of them by itself. */
  readonly keyPrefix: string;
  /** `{` follows. */
  readonly prefix: string;
}

export interface KeyTrackingOptions extends TrackedKeys {
  /** Of commands: what it writes must be heard of. */
  readonly client: SingleLike;
  readonly runtime: Runtime;
  /** An entry's key was written, deleted, evicted or has expired. */
  readonly onChange: (place: string) => void;
  /** The server was flushed. */
  readonly onFlush: () => void;
}

/**
 * Server-assisted invalidation (`CLIENT TRACKING … BCAST`): the server itself tells a subscriber of each change of an entry's
 * key, whoever made it: evictions, deletions by hand, a flush. It comes on top of this package's own messages, which go on;
 * where a server does not offer it, they are all there is, and that is told of once.
 */
export class KeyTracking {
  /** As Redis knows it. */
  private readonly prefix: string;
  /** The proof under way, and the end of its time once its key is written. */
  private proof: { stop: Cancel } | undefined;
  private isArmed = false;
  private toldOf = false;

  constructor(private readonly options: KeyTrackingOptions) {
    this.prefix = options.keyPrefix + options.prefix;
  }

  /**
   * Before the connection subscribes to anything else: afterwards it takes no such command.
   * @throws what ends the connection; a server that refuses is told of
   */
  async arm(connection: SingleLike): Promise<void> {
    this.isArmed = false;
    try {
      const id = String(await connection.call('CLIENT', 'ID'));
      await connection.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', id, 'BCAST', 'PREFIX', this.prefix);
      await connection.subscribe(INVALIDATIONS);
      this.isArmed = true;
    } catch (error) {
      if (!isAnswer(error)) throw error;
      this.tell(`this server refuses it (${reasonOf(error)})`);
    }
  }

  /** Writes a key and waits for word of it: proxies and some services accept all of this and never tell. */
  prove(): void {
    this.cancel();
    if (!this.isArmed) return;
    const { client, runtime, prefix } = this.options;
    const proof: { stop: Cancel } = { stop: nothing };
    this.proof = proof;
    const late = (): void => {
      this.cancel();
      this.tell(`nothing was heard of a change for ${PROOF_MS} ms`);
    };
    client.set(prefix + PROBE, Buffer.alloc(0), 'PX', PROOF_MS).then(
      () => {
        // It may have been heard of already, or another proof have begun.
        if (this.proof === proof) proof.stop = runtime.timers.after(PROOF_MS, late, true);
      },
      // It proves nothing where the key was not written.
      () => {
        if (this.proof === proof) this.cancel();
      },
    );
  }

  /** @param payload what ioredis hands over: the names of keys; null after a flush */
  receive(payload: unknown): void {
    if (payload === null) return this.options.onFlush();
    if (!Array.isArray(payload)) return;
    for (const key of payload as readonly unknown[]) this.heed(String(key));
  }

  /** No more proof is waited for. */
  cancel(): void {
    this.proof?.stop();
    this.proof = undefined;
  }

  private heed(key: string): void {
    const { prefix } = this;
    if (key === prefix + PROBE) return this.cancel();
    const begin = prefix.length + 1;
    const end = key.indexOf('}', begin);
    if (!key.startsWith(`${prefix}{`) || end === -1) return;
    const [id, variant] = [key.slice(begin, end), key.slice(end + 1)];
    this.options.onChange(variant === '' ? id : `${id} ${variant}`);
  }

  private tell(why: string): void {
    if (this.toldOf) return;
    this.toldOf = true;
    this.options.runtime.log.warn(
      `coherence.mode 'tracking': ${why}. Copies (l1) are kept true by this package's own messages alone, which know nothing of evictions, a flush and writes by others: their bound is l1.ttl.`,
    );
  }
}
