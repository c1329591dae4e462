import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

import { encodePayload, MOST_KEPT, type EncodedPayload } from '../../../lib/core/entry/index.js';

const PLAIN = { types: undefined, serializer: undefined, shared: false } as const;
const PAYLOADS = 100;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** Once it is at rest: what others left behind may go in several rounds, and between turns. */
async function heap(): Promise<number> {
  let [last, used] = [Infinity, 0];
  for (let round = 0; round < 50 && Math.abs(last - used) > 2_000; round++) {
    await turn();
    collect();
    [last, used] = [used, process.memoryUsage().heapUsed];
  }
  return used;
}

const list = <T>(length: number, make: (i: number) => T): T[] => Array.from({ length }, (_, i) => make(i));
const byId = (length: number, make: (i: number) => [string, unknown]) =>
  Object.fromEntries(list(length, make));

const row = (n: number, i: number) => ({
  id: i,
  name: `Product number ${n}.${i}`,
  price: i + 0.5,
  note: `What is to be said about number ${n}.${i} is said here.`,
  tags: ['new', 'sale'],
});

/** Each makes another value for each number. */
const KINDS: Readonly<Record<string, (n: number) => unknown>> = {
  rows: (n) => list(50, (i) => row(n, i)),
  'one text': (n) => `${n} `.repeat(2_000),
  'one text with a letter of another script': (n) => `${`${n} `.repeat(2_000)}я`,
  'short texts': (n) => list(500, (i) => `text ${n}.${i}`),
  'texts with a letter of another script': (n) => list(100, (i) => `a text of a few words ${n}.${i}, я`),
  'texts with the mark of the codec': (n) => list(300, (i) => `~a text of a few words ${n}.${i}`),
  'whole numbers': () => list(1_000, (i) => i),
  fractions: (n) => list(500, (i) => (n + i + 1) / 7),
  bigints: (n) => list(500, (i) => BigInt(n * i)),
  'long bigints': (n) => list(50, (i) => 7n ** 500n + BigInt(n * i)),
  dates: (n) => list(500, (i) => new Date(n * i)),
  'rows with dates': (n) => list(50, (i) => ({ ...row(n, i), at: new Date(n * i) })),
  'what has no text of its own': () => list(500, (i) => [null, undefined, true][i % 3]),
  'empty arrays': () => list(500, () => []),
  'empty objects': () => list(500, () => ({})),
  'a text and empty objects': (n) => [`${n} `.repeat(1_000), list(300, () => ({}))],
  'numbers by id': (n) => byId(500, (i) => [`id${n}.${i}`, i]),
  'texts by id': (n) => byId(100, (i) => [`id${n}.${i}`, `a text of a few words ${n}.${i}`]),
  'rows by id': (n) => byId(100, (i) => [`id${n}.${i}`, { id: i, name: `Product number ${n}.${i}` }]),
  'texts by number': (n) => byId(300, (i) => [`${n + i * 1_000_003}`, `a text of a few words ${n}.${i}`]),
  'a Map': (n) => new Map(list(300, (i) => [`id${n}.${i}`, i])),
};

describe('what a payload keeps for its next readers', () => {
  it.each(Object.keys(KINDS))('takes no more than is said: %s', async (kind) => {
    const payloads: EncodedPayload[] = list(PAYLOADS, (n) => encodePayload(KINDS[kind]?.(n), PLAIN));
    const read = () => payloads.forEach((payload) => payload.read(PLAIN));
    read();
    const before = await heap();
    read();
    const kept = (await heap()) - before;
    const bytes = payloads.reduce((sum, payload) => sum + payload.size, 0);
    // The rest of the process moves a little, too.
    expect(kept).toBeLessThan(MOST_KEPT * bytes * 1.02 + 50_000);
    expect(kept).toBeGreaterThan(0.3 * bytes);
  });
});
