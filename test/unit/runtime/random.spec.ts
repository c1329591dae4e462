import { createRandom } from '../../../lib/runtime/random.js';

describe('random', () => {
  it('makes tokens of 22 base64url characters that never repeat, across refills of its pool', () => {
    const random = createRandom();
    const tokens = Array.from({ length: 2_000 }, () => random.token());

    expect(new Set(tokens).size).toBe(2_000);
    for (const token of tokens) expect(token).toMatch(/^[\w-]{22}$/);
  });

  it('puts 16 bytes into a token, all of them random', () => {
    const random = createRandom();
    const bytes = Array.from({ length: 500 }, () => Buffer.from(random.token(), 'base64url'));

    for (const token of bytes) expect(token).toHaveLength(16);
    for (let at = 0; at < 16; at++) {
      // 500 draws of 256 values: fewer than 100 different ones would be no chance at all.
      expect(new Set(bytes.map((token) => token[at])).size).toBeGreaterThan(100);
    }
  });

  it('draws numbers in [0, 1)', () => {
    const random = createRandom();
    const drawn = Array.from({ length: 1_000 }, () => random.next());

    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...drawn)).toBeLessThan(1);
    expect(new Set(drawn).size).toBeGreaterThan(900);
  });
});
