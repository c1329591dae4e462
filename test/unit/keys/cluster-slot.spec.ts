import clientSlot from 'cluster-key-slot';
import * as fc from 'fast-check';
import { encodeArgs, encodeKey, entryKey, type EntryKey } from '../../../lib/core/keys/index.js';
import { oddString } from './arbitraries.js';
import { serverSlot } from './server-slot.js';

/** The three names the Redis store makes from an id. */
const names = ({ id }: EntryKey): string[] => [`shop:d:{${id}}`, `shop:l:{${id}}`, `shop:s:{${id}}00c0ffee`];

describe('the key names of an entry on a Redis Cluster', () => {
  it('computes slots as the specification does', () => {
    expect(serverSlot('123456789')).toBe(0x31c3);
    expect(serverSlot('{user1000}.following')).toBe(serverSlot('user1000'));
    expect(serverSlot('foo{}{bar}')).not.toBe(serverSlot('bar'));
    expect(serverSlot('foo{{bar}}zap')).toBe(serverSlot('{bar'));
  });

  it('fall into one slot for 20,000 odd keys, for the server and for the client', () => {
    const fixed = [
      '',
      '{',
      '}',
      '{}',
      '}{',
      '{a',
      'a}b{c}',
      '{org1}:a',
      '\0',
      '\n',
      '😀',
      '\ud800',
      '\udfff',
      '{'.repeat(1_000_000),
      'é'.repeat(1_000_000),
    ];
    const sampled = fc.sample(oddString, 20_000 - fixed.length);
    const split = [...fixed, ...sampled].filter((odd, i) => {
      const key = entryKey(i % 3 === 0 ? odd : undefined, i % 5 === 0 ? odd : undefined, encodeKey(odd));
      const slots = new Set(names(key).flatMap((name) => [serverSlot(name), clientSlot(name)]));
      return slots.size !== 1;
    });
    expect(split).toEqual([]);
  });

  it('spread ordinary entries evenly over three masters', () => {
    const masters = [0, 0, 0];
    for (let i = 0; i < 10_000; i++) {
      const slot = serverSlot(
        names(entryKey('ProductsService.findOne', undefined, encodeArgs([i])))[0] ?? '',
      );
      const master = slot <= 5460 ? 0 : slot <= 10922 ? 1 : 2;
      masters[master] = (masters[master] ?? 0) + 1;
    }
    for (const count of masters) {
      expect(count).toBeGreaterThanOrEqual(3000);
      expect(count).toBeLessThanOrEqual(3700);
    }
  });
});
