import { setTimeout as delay } from 'node:timers/promises';
import { encodeHeader } from '../../lib/core/entry/header.js';
import type { AcquireRequest, Store } from '../../lib/core/store.js';
import { createRedisStore, type RedisStore, type RedisStoreOptions } from '../../lib/redis/index.js';
import { createNodeRuntime } from '../../lib/runtime/index.js';
import { freshToken, LONG, Subject } from '../contract/subject.js';
import type { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';

export interface Said {
  readonly states: string[];
  readonly pushes: string[];
  readonly warnings: string[];
}

export interface Kit extends Said {
  readonly store: RedisStore;
}

/** A store that is not opened yet, and what it tells. */
export async function makeStore(connection: unknown, options: Partial<RedisStoreOptions> = {}): Promise<Kit> {
  const said: Said = { states: [], pushes: [], warnings: [] };
  const runtime = createNodeRuntime({
    log: { info: () => undefined, warn: (message) => void said.warnings.push(message) },
  });
  const store = await createRedisStore({
    connection,
    namespace: 'shop',
    runtime,
    onState: (state, reason) => void said.states.push(`${state}: ${reason}`),
    onPush: (state, reason) => void said.pushes.push(`${state}: ${reason}`),
    ...options,
  });
  return { store, ...said };
}

/** A fresh key and the moves of the contract suite on it. */
export function subjectOf(store: Store, second: Store = store): Subject {
  return new Subject({ store, second, advance: (ms) => delay(ms), close: () => Promise.resolve() });
}

export function request(over: Partial<AcquireRequest> = {}): AcquireRequest {
  return {
    token: freshToken(),
    leaseMs: LONG,
    holder: 'test-host/1',
    mode: 'load',
    willWait: false,
    rejectedId: '',
    hasStale: false,
    waitedOn: '',
    ...over,
  };
}

/** An entry's bytes around any payload, fresh for a minute. */
export function entryBytes(id: string, payload: Buffer): Buffer {
  const now = Date.now();
  const head = encodeHeader({
    kind: 'value',
    codec: 'j',
    softAt: now + LONG,
    loadStart: now,
    sourceVersion: 0,
    id,
    size: payload.length,
    cost: 5,
    bornAt: now + 5,
    ttl: LONG,
    hard: LONG,
    epoch: 0,
    digest: 'digest00',
    tags: [],
  });
  return Buffer.concat([head, payload]);
}

/** Closes a proxy after its clients are gone: Node can't reset a socket whose end is on its way, and would keep it. */
export async function closeProxy(proxy: TcpProxy): Promise<void> {
  proxy.resume();
  await until(() => proxy.connections === 0, { what: 'the connections to end' });
  await proxy.close();
}
