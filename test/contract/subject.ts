/* oxlint-disable jest/no-standalone-expect -- these methods run inside the tests of every part of the contract */
import { encodeHeader } from '../../lib/core/entry/header.js';
import type { EntryKey } from '../../lib/core/keys/index.js';
import type { AcquireReply, AcquireRequest, Store, Wake } from '../../lib/core/store.js';
import type { StoreHarness } from './harness.js';

/** Longer than any test: nothing expires by accident, however slow the machine. */
export const LONG = 60_000;

let names = 0;

export function freshKey(): EntryKey {
  return { id: `contract:${process.pid}-${++names}`, variant: '', digest: 'digest00' };
}

/** 22 base64url characters, never the same twice. */
export function freshToken(): string {
  return `${process.pid}-${++names}`.padEnd(22, '_');
}

/** Wake-ups in the order of their arrival, without those that only say that some may have been missed. */
export interface WakeLog {
  readonly wakes: readonly Wake[];
  cancel(): void;
}

/** One key of a store under test, and the moves the tests make. */
export class Subject {
  readonly store: Store;
  readonly second: Store;

  constructor(
    private readonly harness: StoreHarness,
    readonly key: EntryKey = freshKey(),
  ) {
    this.store = harness.store;
    this.second = harness.second;
  }

  /** The same stores with another key. */
  another(): Subject {
    return new Subject(this.harness);
  }

  /** The same stores and id, another variant. */
  ofVariant(variant: string): Subject {
    return this.withKey({ ...this.key, variant });
  }

  withKey(key: EntryKey): Subject {
    return new Subject(this.harness, key);
  }

  acquire(over: Partial<AcquireRequest> = {}, store = this.store): Promise<AcquireReply> {
    const request: AcquireRequest = {
      token: freshToken(),
      leaseMs: LONG,
      holder: 'test-host/1',
      mode: 'load',
      willWait: false,
      rejectedId: '',
      hasStale: false,
      waitedOn: '',
    };
    return store.acquire(this.key, { ...request, ...over });
  }

  /** Takes the lease and returns its token. */
  async own(over: Partial<AcquireRequest> = {}): Promise<string> {
    const token = over.token ?? freshToken();
    expect(await this.acquire({ ...over, token })).toMatchObject({ code: 'owner' });
    return token;
  }

  /** Another client finds the lease held, and waits for its end. */
  async waitFor(token: string): Promise<void> {
    expect(await this.acquire({ willWait: true }, this.second)).toMatchObject({ code: 'wait', token });
  }

  /** An entry's bytes. Without `softIn` it is fresh for longer than the test, below 0 it is stale. */
  async entry(id: string, { softIn = LONG, payload = 'a value', sourceVersion = 0 } = {}): Promise<Buffer> {
    const { now } = await this.store.peek(this.key);
    const head = encodeHeader({
      kind: 'value',
      codec: 'j',
      softAt: now + softIn,
      loadStart: now,
      sourceVersion,
      id,
      size: Buffer.byteLength(payload),
      cost: 5,
      bornAt: now + 5,
      ttl: LONG,
      hard: LONG,
      epoch: 0,
      digest: this.key.digest,
      tags: [],
    });
    return Buffer.concat([head, Buffer.from(payload)]);
  }

  /** Stores an entry as a load does, and returns its id. */
  async publish({ softIn = LONG, hardMs = LONG, sourceVersion = 0 } = {}): Promise<string> {
    const token = await this.own();
    const bytes = await this.entry(token, { softIn, sourceVersion });
    expect(await this.store.commit(this.key, { token, bytes, hardMs, rejectedId: '' })).toBe('stored');
    return token;
  }

  /** Stores an entry that is kept but no longer fresh, and returns its id. */
  publishStale(): Promise<string> {
    return this.publish({ softIn: -1_000 });
  }

  async storedBytes(): Promise<Buffer | null> {
    return (await this.store.peek(this.key)).bytes;
  }

  async expectHeldBy(token: string): Promise<void> {
    expect(await this.store.renew(this.key, token, LONG)).toMatchObject({ held: true });
  }

  async expectNoLease(): Promise<void> {
    expect((await this.store.peek(this.key)).lease).toBeUndefined();
  }

  /** Collects the wake-ups of the key, once they can arrive. */
  async listen(store = this.second): Promise<WakeLog> {
    const wakes: Wake[] = [];
    const cancel = store.listen(this.key, (wake) => {
      if (wake.kind !== 'unknown') wakes.push(wake);
    });
    await this.eventually('wake-ups reach this client', () => store.pushUp());
    return { wakes, cancel };
  }

  /** Waits for the log's only wake-up: a later one shows, too. */
  async onlyWake(log: WakeLog): Promise<Wake | undefined> {
    await this.eventually('a wake-up arrives', () => log.wakes.length > 0);
    await this.flushWakes();
    expect(log.wakes).toHaveLength(1);
    return log.wakes[0];
  }

  /** Sends a wake-up of another key and waits for it: whatever was sent before has arrived by then. */
  async flushWakes(): Promise<void> {
    const other = this.another();
    const log = await other.listen();
    const token = await other.own();
    await other.waitFor(token);
    await other.store.invalidate(other.key, 0);
    await this.eventually('the last wake-up arrives', () => log.wakes.length > 0);
    log.cancel();
  }

  advance(ms: number): Promise<void> {
    return this.harness.advance(ms);
  }

  /** Lets time pass in small steps until the condition holds. */
  async eventually(what: string, condition: () => boolean | Promise<boolean>, stepMs = 5): Promise<void> {
    for (let waited = 0; waited <= 5_000; waited += stepMs) {
      if (await condition()) return;
      await this.harness.advance(stepMs);
    }
    throw new Error(`Waited 5 s of store time in vain until ${what}`);
  }
}
