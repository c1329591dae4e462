import * as fc from 'fast-check';

/** A class as applications write them for their queries: its properties are all it is. */
export class Dto {
  constructor(properties: object) {
    Object.defineProperties(this, Object.getOwnPropertyDescriptors(properties)); // one may be called `__proto__`
  }
}

/** An id or a number of a library: what it is, only `toJSON()` tells. */
export class Jsonable {
  readonly hidden = Math.random();

  constructor(private readonly json: unknown) {}

  toJSON(): unknown {
    return this.json;
  }
}

/** What the text of keys is made of, and what it must not be broken by. */
const SEPARATORS = [
  '',
  ':',
  ',',
  "'",
  "','",
  "a','b",
  '#',
  '%',
  '%27',
  '{',
  '}',
  '{}',
  '@',
  '(',
  ')',
  '[]',
  '=',
  '\u0000',
  '\n',
  ' ',
];
const LOOKALIKES = [
  '1',
  '1n',
  'true',
  'null',
  'undefined',
  'NaN',
  'Date(NaN)',
  "Set('a')",
  'a',
  'b',
  'é',
  '\ud800',
  '\udc00',
  '😀',
];

const utf16 = fc.string({
  unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
  maxLength: 8,
});

export const oddString: fc.Arbitrary<string> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...SEPARATORS, ...LOOKALIKES) },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.constantFrom(...SEPARATORS, ...LOOKALIKES), { maxLength: 4 })
      .map((all) => all.join('')),
  },
  { weight: 1, arbitrary: utf16 },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(utf16, fc.integer({ min: 190, max: 260 }))
      .map(([end, length]) => 'x'.repeat(length) + end),
  },
);

const leaf: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(
    0,
    -0,
    1,
    -1,
    1.5,
    NaN,
    Infinity,
    -Infinity,
    0n,
    1n,
    true,
    false,
    null,
    undefined,
    'a',
    '1',
  ),
  oddString,
  fc.double(),
  fc.bigInt(),
  fc.date(),
  fc.date({ min: new Date(0), max: new Date(2) }),
  fc.constantFrom(/a/, /a/g, /[/{}' ]/u, new RegExp(''), new URL('http://a/?q={x}#h'), new URL('http://a/')),
  fc.uint8Array({ maxLength: 3 }),
  fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
  fc.uint8Array({ minLength: 149, maxLength: 152 }),
  fc.float32Array({ maxLength: 2 }),
  fc.uint16Array({ maxLength: 2 }),
);

/** Any value that can be part of a key. */
export const part: fc.Arbitrary<unknown> = fc.letrec<{ part: unknown }>((tie) => {
  const members = fc.array(tie('part'), { maxLength: 3 });
  const record = fc.dictionary(
    fc.oneof(fc.constantFrom('a', 'b', '__proto__', 'a:1', ''), oddString),
    tie('part'),
    { maxKeys: 3 },
  );
  return {
    part: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      { weight: 4, arbitrary: leaf },
      { weight: 2, arbitrary: members },
      { weight: 3, arbitrary: record },
      { weight: 1, arbitrary: record.filter((r) => Object.keys(r).length > 0).map((r) => new Dto(r)) },
      { weight: 1, arbitrary: tie('part').map((json) => new Jsonable(json)) },
      { weight: 1, arbitrary: members.map((all) => new Set(all)) },
      {
        weight: 1,
        arbitrary: fc.array(fc.tuple(tie('part'), tie('part')), { maxLength: 3 }).map((all) => new Map(all)),
      },
    ),
  };
}).part;

/** Parts so few that two of them are often the same. */
export const smallPart: fc.Arbitrary<unknown> = fc.letrec<{ part: unknown }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 2 },
    { weight: 3, arbitrary: fc.constantFrom<unknown>('a', '', 1, '1', undefined, null, 0, -0) },
    { weight: 1, arbitrary: fc.array(tie('part'), { maxLength: 2 }) },
    { weight: 2, arbitrary: fc.dictionary(fc.constantFrom('a', 'b'), tie('part'), { maxKeys: 2 }) },
    { weight: 1, arbitrary: fc.array(tie('part'), { maxLength: 2 }).map((all) => new Set(all)) },
  ),
})).part;
