import { encodeHeader, type EntryHeader } from '../entry/index.js';
import type { Counters, EventBus } from '../events/index.js';
import type { StoreGate } from '../gate/index.js';
import type { EntryKey } from '../keys/index.js';
import type { Lease } from '../load/index.js';
import type { Request } from '../request.js';
import type { Draft } from './plan.js';

/** What the store said of a write. `unknown`: it did not answer, the value may or may not be there. */
export type PublishResult = 'stored' | 'fenced' | 'unknown';

/** Writes entries under a lease, or without one where the policy says so. */
export class Publisher {
  constructor(
    private readonly gate: StoreGate,
    private readonly events: EventBus,
    private readonly counters: Counters,
  ) {}

  /** Publishes under the lease. `serverNow` is the store time of the load's end. */
  async publish(
    request: Request,
    lease: Lease,
    draft: Draft,
    cost: number,
    serverNow: number,
  ): Promise<PublishResult> {
    const { key } = request;
    const head = this.head(key, draft, lease.token, lease.grantedAt, cost, serverNow);
    const { hard } = draft.life;
    try {
      if (draft.kept && head.length === draft.kept.headLength) {
        const entryId = draft.kept.header.id;
        const touched = await this.gate.write('touch', () =>
          this.gate.store.touch(key, { token: lease.token, entryId, head, hardMs: hard }),
        );
        if (touched !== 'gone') return this.tell(request, touched === 'fenced' ? 'fenced' : 'stored');
      }
      const bytes = Buffer.concat([head, draft.payload.bytes]);
      const reply = await this.gate.write('commit', () =>
        this.gate.store.commit(key, { token: lease.token, bytes, hardMs: hard }),
      );
      if (reply === 'missing') {
        this.tell(request, 'skipped');
        return 'unknown';
      }
      return this.tell(request, reply === 'fenced' ? 'fenced' : 'stored');
    } catch {
      this.tell(request, 'skipped');
      return 'unknown';
    }
  }

  /** Writes without a lease (`coordinate: 'process' | 'none'`). A failure costs the entry only. */
  async writeUnfenced(
    request: Request,
    draft: Draft,
    id: string,
    cost: number,
    serverNow: number,
  ): Promise<void> {
    const { key } = request;
    const head = this.head(key, draft, id, serverNow - cost, cost, serverNow);
    const bytes = Buffer.concat([head, draft.payload.bytes]);
    try {
      await this.gate.write('write', () => this.gate.store.write(key, bytes, draft.life.hard));
      this.tell(request, 'stored');
    } catch {
      this.tell(request, 'skipped');
    }
  }

  /** The bytes before the payload. */
  head(key: EntryKey, draft: Draft, id: string, loadStart: number, cost: number, serverNow: number): Buffer {
    const header: EntryHeader = {
      kind: draft.kind,
      codec: draft.payload.codec,
      softAt: serverNow + draft.life.ttl,
      loadStart,
      sourceVersion: 0,
      id,
      cost,
      ttl: draft.life.ttl,
      hard: draft.life.hard,
      digest: key.digest,
      ...(draft.payload.serializer !== undefined && { serializer: draft.payload.serializer }),
    };
    return encodeHeader(header);
  }

  tell<R extends 'stored' | 'fenced' | 'skipped'>(request: Pick<Request, 'key' | 'name'>, result: R): R {
    this.counters.publishes[result] += 1;
    if (this.events.active) {
      this.events.emit({
        type: 'publish',
        key: request.key.id,
        name: request.name,
        at: this.gate.store.now(),
        result,
      });
    }
    return result;
  }
}
