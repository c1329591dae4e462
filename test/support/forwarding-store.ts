import type { EntryKey } from '../../lib/core/keys/index.js';
import type {
  AcquireRequest,
  CommitRequest,
  PutRequest,
  ReleaseRequest,
  Store,
  TouchRequest,
  Wake,
} from '../../lib/core/store.js';

/** A store that passes everything on: the base for stores that misbehave in one way. */
export class ForwardingStore implements Store {
  constructor(protected readonly inner: Store) {}

  get kind(): Store['kind'] {
    return this.inner.kind;
  }
  now(): number {
    return this.inner.now();
  }
  read(key: EntryKey): ReturnType<Store['read']> {
    return this.inner.read(key);
  }
  acquire(key: EntryKey, request: AcquireRequest): ReturnType<Store['acquire']> {
    return this.inner.acquire(key, request);
  }
  commit(key: EntryKey, request: CommitRequest): ReturnType<Store['commit']> {
    return this.inner.commit(key, request);
  }
  touch(key: EntryKey, request: TouchRequest): ReturnType<Store['touch']> {
    return this.inner.touch(key, request);
  }
  renew(key: EntryKey, token: string, leaseMs: number): ReturnType<Store['renew']> {
    return this.inner.renew(key, token, leaseMs);
  }
  release(key: EntryKey, request: ReleaseRequest): ReturnType<Store['release']> {
    return this.inner.release(key, request);
  }
  put(key: EntryKey, request: PutRequest): ReturnType<Store['put']> {
    return this.inner.put(key, request);
  }
  write(key: EntryKey, bytes: Buffer, hardMs: number): ReturnType<Store['write']> {
    return this.inner.write(key, bytes, hardMs);
  }
  invalidate(key: EntryKey): ReturnType<Store['invalidate']> {
    return this.inner.invalidate(key);
  }
  peek(key: EntryKey): ReturnType<Store['peek']> {
    return this.inner.peek(key);
  }
  listen(key: EntryKey, onWake: (wake: Wake) => void): ReturnType<Store['listen']> {
    return this.inner.listen(key, onWake);
  }
  pushUp(): boolean {
    return this.inner.pushUp();
  }
  open(): Promise<void> {
    return this.inner.open();
  }
  close(): Promise<void> {
    return this.inner.close();
  }
}
