import * as fc from 'fast-check';
import { isDeepStrictEqual } from 'node:util';
import {
  encodeArgs,
  encodeKey,
  encodePart,
  encodeParts,
  entryKey,
  type Key,
} from '../../../lib/core/keys/index.js';
import { oddString, part, smallPart } from './arbitraries.js';
import { change, normalise, respell } from './model.js';

const share = (a: unknown, b: unknown): boolean => isDeepStrictEqual(normalise(a), normalise(b));

/** Runs the property on pairs and reports how many of them were the same key, to show that neither side was vacuous. */
function countPairs(
  pairs: fc.Arbitrary<readonly [unknown, unknown]>,
  numRuns: number,
): { same: number; different: number } {
  const seen = { same: 0, different: 0 };
  fc.assert(
    fc.property(pairs, ([a, b]) => {
      const expected = share(a, b);
      seen[expected ? 'same' : 'different']++;
      expect(encodePart(a) === encodePart(b)).toBe(expected);
    }),
    { numRuns },
  );
  return seen;
}

describe('the text of a key part (properties)', () => {
  it('is the same for two parts exactly if they are the same value', () => {
    const seen = countPairs(fc.tuple(smallPart, smallPart), 4000);
    expect(seen.same).toBeGreaterThan(100);
    expect(seen.different).toBeGreaterThan(100);
  });

  it('is the same for two parts of any kind exactly if they are the same value', () => {
    countPairs(fc.tuple(part, part), 2000);
  });

  it('differs when one value anywhere inside is changed', () => {
    const steps = fc.array(fc.nat(5), { minLength: 1, maxLength: 4 });
    const pairs = fc.tuple(part, steps, part).map(([a, path, b]) => [a, change(a, path, b)] as const);
    expect(countPairs(pairs, 2000).different).toBeGreaterThan(500);
  });

  it('does not depend on how the same part is spelled', () => {
    fc.assert(
      fc.property(part, (a) => {
        expect(encodePart(respell(a))).toBe(encodePart(a));
      }),
      { numRuns: 1000 },
    );
  });

  it('is printable ASCII without space and braces', () => {
    fc.assert(
      fc.property(part, (a) => {
        expect(encodePart(a)).toMatch(/^[!-z|~]+$/);
      }),
      { numRuns: 1000 },
    );
  });
});

describe('the text of lists (properties)', () => {
  const list = fc.array(smallPart, { maxLength: 3 });

  it('is the same for two lists exactly if they have the same parts', () => {
    let same = 0;
    fc.assert(
      fc.property(list, list, (a, b) => {
        if (share(a, b)) same++;
        expect(encodeParts(a) === encodeParts(b)).toBe(share(a, b));
      }),
      { numRuns: 3000 },
    );
    expect(same).toBeGreaterThan(30);
  });

  it('is the same for two argument lists exactly if they differ by undefined arguments at the end only', () => {
    const trimmed = (args: readonly unknown[]): unknown[] =>
      args.slice(0, args.findLastIndex((arg) => arg !== undefined) + 1);
    fc.assert(
      fc.property(list, list, (a, b) => {
        expect(encodeArgs(a) === encodeArgs(b)).toBe(share(trimmed(a), trimmed(b)));
      }),
      { numRuns: 3000 },
    );
  });

  it('keeps a list and its only part apart in a key', () => {
    fc.assert(
      fc.property(smallPart, (a) => {
        // Whatever the arbitrary makes is encodable.
        expect(encodeKey([a] as Key)).not.toBe(encodeKey(a as Key));
      }),
    );
  });
});

describe('the id of an entry (properties)', () => {
  const fewStrings = fc.constantFrom(
    '',
    'a',
    'a:',
    ':a',
    '@',
    'a@b',
    '%',
    '#',
    "'a'",
    'x'.repeat(150),
    'x'.repeat(250),
  );
  const optional = fc.option(fewStrings, { nil: undefined });
  const entry = fc.tuple(optional, optional, fewStrings);

  it('is the same for two entries exactly if name, vary part and arguments are', () => {
    let same = 0;
    const id = ([name, vary, arg]: readonly [string | undefined, string | undefined, string]): string =>
      entryKey(name, vary, encodeArgs([arg])).id;
    fc.assert(
      fc.property(entry, entry, (a, b) => {
        if (isDeepStrictEqual(a, b)) same++;
        expect(id(a) === id(b)).toBe(isDeepStrictEqual(a, b));
      }),
      { numRuns: 10_000 },
    );
    expect(same).toBeGreaterThan(0);
  });

  it('is 1 to 200 printable ASCII characters without space and braces, whatever it is made from', () => {
    const name = fc.option(oddString, { nil: undefined });
    fc.assert(
      fc.property(
        name,
        fc.option(part, { nil: undefined }),
        fc.array(part, { maxLength: 3 }),
        (n, vary, args) => {
          const { id, digest } = entryKey(n, vary as Key, encodeArgs(args)); // the arbitrary makes encodable parts only
          expect(id).toMatch(/^[!-z|~]{1,200}$/);
          expect(digest).toMatch(/^[\w-]{8}$/);
        },
      ),
      { numRuns: 2000 },
    );
  });
});
