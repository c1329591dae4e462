import type { Cancel, Runtime } from '../core/ports.js';
import { reasonOf } from './redact.js';
import type { SingleLike } from './redis-like.js';

/** Where a connection that redirects its invalidations to itself finds them. */
export const INVALIDATIONS = '__redis__:invalidate';

/** How long the server may take to tell of the key that was written to prove that it does, ms. */
const PROOF_MS = 500;

export interface KeyTrackingOptions {
  /** Of commands: what it writes must be heard of. */
  readonly client: SingleLike;
  /** What the names of all entries' keys begin with in Redis, its own `keyPrefix` included; `{` follows. */
  readonly prefix: string;
  /** A key under that prefix which is no entry's, as {@link client} is given it. */
  readonly probeKey: string;
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
  private probing: { readonly key: string; readonly heard: () => void } | undefined;
  private stopProbe: Cancel = () => undefined;
  private isArmed = false;
  private toldOf = false;

  constructor(private readonly options: KeyTrackingOptions) {}

  /** Before the connection subscribes to anything else: afterwards it takes no such command. Never rejects. */
  async arm(connection: SingleLike): Promise<void> {
    this.isArmed = false;
    try {
      const id = String(await connection.call('CLIENT', 'ID'));
      const { prefix } = this.options;
      await connection.call('CLIENT', 'TRACKING', 'ON', 'REDIRECT', id, 'BCAST', 'PREFIX', prefix);
      await connection.subscribe(INVALIDATIONS);
      this.isArmed = true;
    } catch (error) {
      this.tell(`this server refuses it (${reasonOf(error)})`);
    }
  }

  /** Writes a key and waits for word of it: proxies and some services accept all of this and never tell. */
  prove(): void {
    this.cancel();
    if (!this.isArmed) return;
    const { client, runtime, prefix, probeKey } = this.options;
    const key = prefix + probeKey.slice(probeKey.indexOf('{'));
    const late = (): void => {
      this.cancel();
      this.tell(`nothing was heard of a change for ${PROOF_MS} ms`);
    };
    this.probing = { key, heard: () => this.cancel() };
    this.stopProbe = runtime.timers.after(PROOF_MS, late, true);
    // It proves nothing where the key was not written.
    client.set(probeKey, Buffer.alloc(0), 'PX', PROOF_MS).catch(() => this.cancel());
  }

  /** @param payload what ioredis hands over: the names of keys; null after a flush */
  receive(payload: unknown): void {
    if (payload === null) return this.options.onFlush();
    if (!Array.isArray(payload)) return;
    for (const key of payload as readonly unknown[]) this.heed(String(key));
  }

  /** No more proof is waited for. */
  cancel(): void {
    this.stopProbe();
    this.probing = undefined;
  }

  private heed(key: string): void {
    if (key === this.probing?.key) return this.probing.heard();
    const { prefix, onChange } = this.options;
    const begin = prefix.length + 1;
    const end = key.indexOf('}', begin);
    if (!key.startsWith(`${prefix}{`) || end === -1) return;
    const [id, variant] = [key.slice(begin, end), key.slice(end + 1)];
    onChange(variant === '' ? id : `${id} ${variant}`);
  }

  private tell(why: string): void {
    if (this.toldOf) return;
    this.toldOf = true;
    this.options.runtime.log.warn(
      `coherence.mode 'tracking': ${why}. Copies (l1) are kept true by this package's own messages alone, which know nothing of evictions, a flush and writes by others: their bound is l1.ttl.`,
    );
  }
}
