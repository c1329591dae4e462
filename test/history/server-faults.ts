import type { Redis } from 'ioredis';
import { machineNow } from './clock.js';
import { NAMESPACE, type HistoryFleet } from './fleet.js';
import type { Random } from './random.js';

/** A key of an entry: what it is, the entry's id, its variant. */
const ENTRY_KEY = new RegExp(`^${NAMESPACE}:([dl]):\\{(.*)\\}(.*)$`);
const EVICTED = 3;

export type ServerFault = 'evict' | 'mute' | 'forget';

/** What may befall the server's memory and connections, besides standing still. */
export async function befallServer(fleet: HistoryFleet, fault: ServerFault, random: Random): Promise<void> {
  const client = fleet.redis.client();
  try {
    if (fault === 'evict') await evict(fleet, client, random);
    else if (fault === 'mute') await client.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    else await client.call('SCRIPT', 'FLUSH');
    if (fault !== 'evict') fleet.noteServer({ kind: 'fault', fault });
  } finally {
    client.disconnect();
  }
}

/**
 * As a full server would: entries and leases vanish. What the guarantees need for longer (epochs, versions) stays; so do tags: an
 * invalidated one that is evicted while a load learns of it only at its end is a stated limit, and has tests of its own.
 */
async function evict(fleet: HistoryFleet, client: Redis, random: Random): Promise<void> {
  const names = await client.keys(`${NAMESPACE}:[dl]:*`);
  for (let count = 0; count < EVICTED && names.length > 0; count++) {
    const name = random.pick(names);
    const begin = machineNow();
    await client.del(name);
    const [, kind, id = '', variant = ''] = ENTRY_KEY.exec(name) ?? [];
    if (kind === 'l') noteEviction(fleet, id, variant, begin);
  }
}

/** A lease vanished: as far as the protocol goes, a change like any other. */
function noteEviction(fleet: HistoryFleet, keyId: string, variant: string, begin: number): void {
  const id = `o:redis:${begin}`;
  const about = { op: 'evict', key: fleet.plainKey(keyId), variant, token: '' } as const;
  fleet.noteServer({ kind: 'store.begin', id, ...about }, begin);
  fleet.noteServer({ kind: 'store.end', id, reply: 'done' });
}
