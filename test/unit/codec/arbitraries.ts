import fc from 'fast-check';

/** Strings with surrogates torn apart, NUL, and a taste for what the wire format uses itself. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('~', '#', 'd', 'u', '0', '\ud83d', '\ude00', '\u0000', '"') }),
  fc.constantFrom(
    '~',
    '~~',
    '~u',
    '~n',
    '~0',
    '~d1',
    '~#Map',
    '~~#Set',
    '~B',
    '__proto__',
    'constructor',
    'toJSON',
    '',
  ),
);

const name = fc.oneof(text, fc.nat({ max: 20 }).map(String));

const leaf = fc.oneof(
  text,
  fc.double(),
  fc.integer(),
  fc.bigInt(),
  fc.boolean(),
  fc.constantFrom(null, undefined, Number.NaN, -0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY),
  fc.date({ noInvalidDate: false }),
  fc.uint8Array().map((bytes) => Buffer.from(bytes)),
  fc.uint8Array(),
  fc.int16Array(),
  fc.float64Array(),
  fc.bigUint64Array(),
  fc.uint8Array().map((bytes) => new Uint8Array(bytes).buffer),
  fc.uint8Array().map((bytes) => new DataView(new Uint8Array(bytes).buffer)),
  fc
    .tuple(fc.constantFrom('a/b', '^\\s+$', '(?:)', '[\\]/]'), fc.constantFrom('', 'g', 'iu', 'sy'), fc.nat())
    .map(at),
  fc.webUrl().map((url) => new URL(url)),
  fc.array(fc.tuple(fc.string(), fc.string())).map((pairs) => new URLSearchParams(pairs)),
);

function at([source, flags, lastIndex]: [string, string, number]): RegExp {
  return Object.assign(new RegExp(source, flags), { lastIndex });
}

const NATIVE_ERRORS = [Error, TypeError, RangeError, SyntaxError, ReferenceError, EvalError, URIError];

/** Properties put one by one, so that `__proto__` is an own one. */
function withProperties<T extends object>(target: T, properties: readonly (readonly [string, unknown])[]): T {
  for (const [key, value] of properties) {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return target;
}

/** Any value of any kind the codec keeps, nested. */
export const anyValue: fc.Arbitrary<unknown> = fc.letrec((tie) => {
  const properties = fc.array(fc.tuple(name, tie('value')), { maxLength: 5 });
  return {
    value: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      leaf,
      fc.array(tie('value'), { maxLength: 5 }),
      properties.map((pairs) => withProperties({}, pairs)),
      properties.map((pairs) => withProperties(Object.create(null) as object, pairs)),
      fc.array(fc.tuple(tie('value'), tie('value')), { maxLength: 5 }).map((entries) => new Map(entries)),
      fc.array(tie('value'), { maxLength: 5 }).map((elements) => new Set(elements)),
      fc.array(fc.tuple(fc.nat({ max: 50 }), tie('value')), { maxLength: 4 }).map((entries) => {
        const sparse: unknown[] = [];
        for (const [i, value] of entries) sparse[i] = value;
        return sparse;
      }),
      fc.tuple(fc.array(tie('value'), { maxLength: 3 }), properties).map(([elements, pairs]) =>
        withProperties(
          elements,
          pairs.filter(([key]) => key !== 'length' && !/^\d+$/.test(key)),
        ),
      ),
      fc
        .tuple(fc.constantFrom(...NATIVE_ERRORS), text, tie('value'), properties)
        .map(([Native, message, cause, pairs]) =>
          withProperties(
            new Native(message, { cause }),
            pairs.filter(([key]) => key !== 'stack' && key !== 'message'),
          ),
        ),
      fc.array(tie('value'), { maxLength: 3 }).map((errors) => new AggregateError(errors, 'several')),
    ),
  };
})['value'] as fc.Arbitrary<unknown>;

/** Values that plain JSON keeps. */
export const jsonValue: fc.Arbitrary<unknown> = fc.jsonValue({
  noUnicodeString: false,
} as fc.JsonSharedConstraints);

/** Values that are copied part by part: plain objects, dense arrays, dates and what is no object. */
export const treeValue: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(
      text,
      fc.double(),
      fc.integer(),
      fc.bigInt(),
      fc.constantFrom(null, undefined, true, Number.NaN, -0, Number.POSITIVE_INFINITY),
      fc.date({ noInvalidDate: false }),
    ),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.array(fc.tuple(name, tie('value')), { maxLength: 5 }).map((pairs) => withProperties({}, pairs)),
  ),
}))['value'] as fc.Arbitrary<unknown>;
