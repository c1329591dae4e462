import type { ClientLike } from './redis-like.js';
import { isResharding } from './resharding.js';

/** The bytes at a key, or null; null also for something of another type, which is not ours. */
export function readBytes(client: ClientLike, key: string): Promise<Buffer | null> {
  return client.getBuffer(key).catch((error: unknown) => {
    // ioredis follows one redirected command of an automatic pipeline with all of them: the others are lost on the way.
    if (isResharding(error)) return client.getBuffer(key);
    if (error instanceof Error && error.message.startsWith('WRONGTYPE')) return null;
    throw error;
  });
}

/** A server that has no `MGET` for this user, or not for these keys, says so each time. */
const NEVER = /^(?:NOPERM|CROSSSLOT|ERR unknown command)/;

/** The same at several keys of one server. Where it refuses that, one by one; `refused` hears of what it would refuse again. */
export async function readAllBytes(
  use: () => ClientLike,
  keys: readonly string[],
  refused: () => void,
): Promise<(Buffer | null)[]> {
  try {
    return await use().mgetBuffer(...keys);
  } catch (error) {
    if (!(error instanceof Error) || !isAnswer(error)) throw error;
    if (NEVER.test(error.message)) refused();
    return Promise.all(keys.map((key) => readBytes(use(), key)));
  }
}

/** Error replies begin with a code, other errors with a sentence. */
function isAnswer({ message }: Error): boolean {
  return /^[A-Z]{3,}\b/.test(message);
}
