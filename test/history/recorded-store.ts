import type { EntryKey } from '../../lib/core/keys/index.js';
import type { Store } from '../../lib/core/store.js';
import { machineNow } from './clock.js';
import type { Recorder } from './recorder.js';
import type { StoreOpKind } from './records.js';

const RECORDED: ReadonlySet<string> = new Set<StoreOpKind>([
  'acquire',
  'renew',
  'commit',
  'touch',
  'release',
  'put',
  'invalidate',
  'expire',
  'write',
]);

/** The id of the load whose row these bytes hold. */
const LOAD_IN_BYTES = /~([ls]:p[\d.]+:\d+)~/;

/** The store, with every step of the protocol in the records. It changes nothing. */
export function recordedStore(
  store: Store,
  recorder: Recorder,
  plainKey: (key: EntryKey) => string,
  unheardAfter: number,
): Store {
  /** Notes an answer that came too late, or not at all. */
  const heard = (reply: unknown): unknown => {
    if (!(reply instanceof Promise)) return reply;
    const asked = machineNow();
    const judge = (failed: boolean): void => {
      const ms = machineNow() - asked;
      if (failed || ms > unheardAfter) recorder.note({ kind: 'event', event: 'unheard', key: '', ms });
    };
    reply.then(
      () => judge(false),
      () => judge(true),
    );
    return reply;
  };
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const method = member.bind(target) as (...args: readonly unknown[]) => unknown;
      if (!RECORDED.has(String(name))) return (...args: readonly unknown[]) => heard(method(...args));
      return (key: EntryKey, ...rest: readonly unknown[]) => {
        const id = recorder.id('o');
        recorder.note({
          kind: 'store.begin',
          id,
          op: String(name) as StoreOpKind, // one of RECORDED
          key: plainKey(key),
          ...(key.variant !== '' && { variant: key.variant }),
          ...detailsOf(rest),
        });
        const reply = heard(method(key, ...rest)) as Promise<unknown>; // the store's operations are asynchronous
        reply.then(
          (value) => recorder.note({ kind: 'store.end', id, reply: replyOf(value) }),
          (error: unknown) => recorder.note({ kind: 'store.end', id, error: String(error) }),
        );
        return reply;
      };
    },
  });
}

interface Details {
  readonly token: string;
  readonly load?: string;
  readonly probe?: boolean;
}

function detailsOf([first]: readonly unknown[]): Details {
  if (typeof first === 'string') return { token: first };
  if (Buffer.isBuffer(first)) return { token: '', ...loadIn(first) };
  if (typeof first !== 'object' || first === null) return { token: '' };
  const request = first as { token?: string; mode?: string; bytes?: Buffer };
  return {
    token: request.token ?? '',
    ...(request.mode === 'probe' && { probe: true }),
    ...(request.bytes && loadIn(request.bytes)),
  };
}

function loadIn(bytes: Buffer): { load?: string } {
  const load = LOAD_IN_BYTES.exec(bytes.toString('latin1'))?.[1];
  return load === undefined ? {} : { load };
}

function replyOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value);
  const reply = value as { code?: string; held?: boolean };
  return reply.code ?? (reply.held === undefined ? 'done' : reply.held ? 'held' : 'lost');
}
