import type { EntryKey } from '../../lib/core/keys/index.js';
import type {
  AcquireRequest,
  CommitRequest,
  PutRequest,
  ReleaseRequest,
  Signal,
  Store,
  Target,
  TouchRequest,
  Wake,
} from '../../lib/core/store.js';

/** A store that passes everything on: the base for stores that misbehave in one way. */
export class ForwardingStore implements Store {
  constructor(protected readonly inner: Store) {}

  get kind(): Store['kind'] {
    return this.inner.kind;
  }
  get clockSkew(): number {
    return this.inner.clockSkew;
  }
  now(at?: number): number {
    return this.inner.now(at);
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
  invalidate(key: EntryKey, holdOffMs: number): ReturnType<Store['invalidate']> {
    return this.inner.invalidate(key, holdOffMs);
  }
  expire(key: EntryKey): ReturnType<Store['expire']> {
    return this.inner.expire(key);
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
  tags(ids: readonly string[]): ReturnType<Store['tags']> {
    return this.inner.tags(ids);
  }
  holdTags(ids: readonly string[], lifeMs: number): ReturnType<Store['holdTags']> {
    return this.inner.holdTags(ids, lifeMs);
  }
  invalidateTag(id: string, holdOffMs: number): ReturnType<Store['invalidateTag']> {
    return this.inner.invalidateTag(id, holdOffMs);
  }
  expireTag(id: string): ReturnType<Store['expireTag']> {
    return this.inner.expireTag(id);
  }
  epochs(): ReturnType<Store['epochs']> {
    return this.inner.epochs();
  }
  clear(scope: string): ReturnType<Store['clear']> {
    return this.inner.clear(scope);
  }
  raiseEpochs(epochs: ReadonlyMap<string, number>): ReturnType<Store['raiseEpochs']> {
    return this.inner.raiseEpochs(epochs);
  }
  variants(name: string): ReturnType<Store['variants']> {
    return this.inner.variants(name);
  }
  announce(name: string, variant: string, lifeMs: number): ReturnType<Store['announce']> {
    return this.inner.announce(name, variant, lifeMs);
  }
  watch(onSignal: (signal: Signal) => void): ReturnType<Store['watch']> {
    return this.inner.watch(onSignal);
  }
  toldUntil(): number {
    return this.inner.toldUntil();
  }
  obstacle(): string | undefined {
    return this.inner.obstacle();
  }
  serverOf(target: Target): string | undefined {
    return this.inner.serverOf(target);
  }
  probe(server: string): Promise<void> {
    return this.inner.probe(server);
  }
  reconnect(server: string): void {
    this.inner.reconnect(server);
  }
  open(): Promise<void> {
    return this.inner.open();
  }
  close(): Promise<void> {
    return this.inner.close();
  }
}
