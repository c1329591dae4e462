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

/** What is said each time of a command that this user may not have, the server lacks, or these keys can't be asked with. */
const NEVER = /^(?:NOPERM|CROSSSLOT|ERR)\b/;

/** The same at several keys of one server. Where it refuses that, one by one; `refused` hears of what it would refuse again. */
export async function readAllBytes(
  use: () => ClientLike,
  keys: readonly string[],
  refused: () => void,
): Promise<(Buffer | null)[]> {
  try {
    return await use().mgetBuffer(...keys);
  } catch (error) {
    const isFinal = error instanceof Error && NEVER.test(error.message);
    if (!isFinal && !isResharding(error)) throw error;
    if (isFinal) refused();
    return Promise.all(keys.map((key) => readBytes(use(), key)));
  }
}
