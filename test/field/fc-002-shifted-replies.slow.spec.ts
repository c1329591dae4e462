import { setImmediate as turn } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Random } from '../history/random.js';
import { TcpProxy } from '../support/tcp-proxy.js';
import { until } from '../support/until.js';
import { times } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

const KEYS = 1_000;
const READS = 20_000;
const READERS = 25;
const CUTS = 20;

interface Page {
  readonly key: string;
  readonly text: string;
}

const keyOf = (index: number): string => `u:${index % KEYS}`;
const pageOf = (key: string): Page => ({ key, text: `page of ${key}` });

describe('FC-002: replies that come after their command was given up', () => {
  it('reach nobody: each of 20,000 reads answers for its own key, whatever times out, breaks or is aborted', async () => {
    const chance = new Random(2);
    const proxy = await TcpProxy.start({ port: here.redis.port });
    here.atEnd(() => proxy.close());
    const client = new Redis(proxy.port, '127.0.0.1', {
      commandTimeout: 5,
      disconnectTimeout: 50,
      retryStrategy: () => 5,
      // Its INFO would time out like everything else.
      enableReadyCheck: false,
    });
    client.on('error', () => undefined);
    here.atEnd(async () => client.disconnect());
    const { cache } = await here.app({ cache: { redis: client } });
    await until(() => client.status === 'ready', { what: 'the client' });
    const primer = await here.app();
    await times(KEYS, (i) => primer.cache.set(keyOf(i), pageOf(keyOf(i))));
    const timedOut = countTimeouts(client);

    // In 20 ms many replies gather behind the delayed one: more than 10 % are late.
    proxy.delayReplies(() => (chance.chance(0.01) ? 20 : 0));
    const wrong: string[] = [];
    const ends = { answered: 0, aborted: 0 };
    const read = async (index: number): Promise<void> => {
      const key = keyOf(index * 7);
      const caller = new AbortController();
      const isAborted = chance.chance(1 / 3);
      if (isAborted) setTimeout(() => caller.abort(new Error('gone')), chance.between(0, 8));
      try {
        // As a source that is asked over a socket: the event loop turns.
        const load = () => turn(pageOf(key));
        const page = await cache.getOrLoad(key, load, undefined, { signal: caller.signal });
        ends.answered += 1;
        if (page.key !== key || page.text !== pageOf(key).text) wrong.push(`${key}: ${page.text}`);
      } catch (error) {
        // Nothing else may reach a caller: each load succeeds.
        if (error !== caller.signal.reason) throw error;
        ends.aborted += 1;
      }
    };
    for (let cuts = 0; cuts < CUTS; cuts++) {
      await until(() => client.status === 'ready', { what: 'the client to be back' });
      const last = (READS / CUTS) * (cuts + 1);
      let next = last - READS / CUTS;
      await times(READERS, async () => {
        while (next < last) {
          // Late in the round: most reads are to reach Redis.
          if (next === last - READERS * 2) proxy.cut();
          await read(next++);
        }
      });
    }
    expect(wrong).toEqual([]);
    expect(ends.answered + ends.aborted).toBe(READS);
    // It was a storm, and replies did come.
    expect(timedOut()).toBeGreaterThan(100);
    expect(cache.stats().outcomes.fresh).toBeGreaterThan(100);
    expect(ends.aborted).toBeGreaterThan(100);

    proxy.resume();
    await until(() => client.status === 'ready', { what: 'the client to be back' });
    const plain: Page[] = [];
    for (let index = 0; index < KEYS; index++) {
      plain.push(await cache.getOrLoad(keyOf(index), () => pageOf(keyOf(index))));
    }
    expect(plain).toEqual(Array.from({ length: KEYS }, (_, index) => pageOf(keyOf(index))));
  }, 60_000);
});

/** How many commands of the client were given up. */
function countTimeouts(client: Redis): () => number {
  let count = 0;
  const send = client.sendCommand.bind(client);
  client.sendCommand = (command, ...rest) => {
    const reply = send(command, ...rest) as Promise<unknown>;
    reply?.catch((error: Error) => (count += Number(error.message === 'Command timed out')));
    return reply;
  };
  return () => count;
}
