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
