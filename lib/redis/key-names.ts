import { tagId, type EntryKey } from '../core/keys/index.js';
import type { TrackedKeys } from './key-tracking.js';
import { clientOption, type ClientLike } from './redis-like.js';

/**
 * The names of keys and channels. Of an entry's keys the id alone is in the hash tag, so all of them, of every variant,
 * share one slot. Every other key is touched alone.
 */
export class KeyNames {
  constructor(private readonly namespace: string) {}

  data(key: EntryKey): string {
    return `${this.namespace}:d:{${key.id}}${key.variant}`;
  }

  /** Of one server: the keys of a Cluster lie in many slots. */
  all(keys: readonly EntryKey[]): string[] {
    return keys.map((key) => this.data(key));
  }

  lease(key: EntryKey): string {
    return `${this.namespace}:l:{${key.id}}${key.variant}`;
  }

  /** Where an entry lies between its plain SET and the script that moves it into place. Tokens are of one length. */
  staged(key: EntryKey, token: string): string {
    return `${this.namespace}:s:{${key.id}}${key.variant}${token}`;
  }

  /** Who is woken: an entry of one variant. No id holds a space. */
  waiting(key: EntryKey): string {
    return key.variant === '' ? key.id : `${key.id} ${key.variant}`;
  }

  tag(id: string): string {
    return `${this.namespace}:t:{${id}}`;
  }

  /** Never written. */
  probe(): string {
    return `${this.namespace}:probe`;
  }

  epochs(): string {
    return `${this.namespace}:epochs`;
  }

  /** A name is any text, and is made safe as a tag is. */
  variants(name: string): string {
    return `${this.namespace}:v:{${tagId(name)}}`;
  }

  /** What begins the names of all entries' keys, and nothing else. */
  entries(client: ClientLike): TrackedKeys {
    return { keyPrefix: keyPrefixOf(client), prefix: `${this.namespace}:d:` };
  }

  /**
   * The one channel of wake-ups and signals. ioredis does not apply `keyPrefix` to channels and Redis has no databases in
   * pub/sub, so both are put into the name.
   */
  channel(client: ClientLike): string {
    const db = clientOption(client, 'db');
    const database = typeof db === 'number' && db > 0 ? `:${db}` : '';
    return `${keyPrefixOf(client)}${this.namespace}:wake${database}`;
  }
}

function keyPrefixOf(client: ClientLike): string {
  const prefix = clientOption(client, 'keyPrefix');
  return typeof prefix === 'string' ? prefix : '';
}
