import type { EntryKey } from '../core/keys/index.js';
import { clientOption, type ClientLike } from './redis-like.js';

/** The names of one entry's keys. The id alone is in the hash tag, so all of them share one slot. */
export class KeyNames {
  constructor(private readonly namespace: string) {}

  data(key: EntryKey): string {
    return `${this.namespace}:d:{${key.id}}`;
  }

  lease(key: EntryKey): string {
    return `${this.namespace}:l:{${key.id}}`;
  }

  /** Where an entry lies between its plain SET and the script that moves it into place. */
  staged(key: EntryKey, token: string): string {
    return `${this.namespace}:s:{${key.id}}${token}`;
  }

  /**
   * The one channel of wake-ups. ioredis does not apply `keyPrefix` to channels and Redis has no databases in pub/sub, so
   * both are put into the name.
   */
  channel(client: ClientLike): string {
    const prefix = clientOption(client, 'keyPrefix');
    const db = clientOption(client, 'db');
    const database = typeof db === 'number' && db > 0 ? `:${db}` : '';
    return `${typeof prefix === 'string' ? prefix : ''}${this.namespace}:wake${database}`;
  }
}
