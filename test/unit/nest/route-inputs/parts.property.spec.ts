import { Body, createParamDecorator, Headers, Param, Query, type ExecutionContext } from '@nestjs/common';
import * as fc from 'fast-check';
import { parse } from 'node:querystring';
import { isDeepStrictEqual } from 'node:util';
import 'reflect-metadata';
import { resolve, type TestRequest } from './kit.js';

const Tenant = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    context.switchToHttp().getRequest<Record<string, unknown>>()['tenant'],
);

/** Short texts of few characters, so that requests are often alike and often almost alike. */
const word = fc.string({ unit: fc.constantFrom('a', 'b', "'", ',', ':', '?', '%', '\u00e9'), maxLength: 2 });
const name = fc.constantFrom('a', 'b', '__proto__', 'toString', 'a:', '?a');
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const queryText = fc
  .array(fc.tuple(name, word), { maxLength: 3 })
  .map((pairs) =>
    pairs.map(([key, value]) => `${encodeURIComponent(key)}=${encodeURIComponent(value)}`).join('&'),
  );
const language = fc.constantFrom('en', 'EN', 'en, fr', 'en,fr', 'fr');

const request: fc.Arbitrary<TestRequest> = fc
  .record({
    query: queryText.map((text) => parse(text)),
    a: maybe(word),
    id: word,
    language: maybe(language),
    body: maybe(
      fc.dictionary(fc.constantFrom('a', 'filter'), fc.oneof(word, fc.array(word, { maxLength: 2 }))),
    ),
    tenant: maybe(fc.oneof(word, fc.record({ id: word }, { noNullPrototype: true }))),
  })
  .map(({ a, id, language: accepted, ...rest }) => ({
    ...rest,
    params: { id },
    headers: {
      ...(a !== undefined && { a }),
      ...(accepted !== undefined && { 'accept-language': accepted }),
    },
  }));

/** What the handler would see, put down beside the code that is tested. */
const property = (holder: unknown, key: string): unknown => {
  const value: unknown = Object.hasOwn(Object(holder) as object, key)
    ? (holder as Record<string, unknown>)[key]
    : undefined;
  return value;
};
const text = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null)) as unknown;

const byName = ([a]: [string, unknown], [b]: [string, unknown]) => (a < b ? -1 : 1);

/** A request again, its query in another order. */
function reversed(of: TestRequest): TestRequest {
  const query = Object.create(null) as Record<string, unknown>;
  for (const [key, value] of Object.entries(of['query'] as object).reverse()) query[key] = value;
  return { ...of, query };
}

/** Runs over pairs, half of which differ in one place only. */
function comparePairs(
  keyOf: (of: TestRequest) => string,
  seen: (of: TestRequest) => unknown,
): { same: number; different: number } {
  const counts = { same: 0, different: 0 };
  const part = fc.constantFrom('query', 'params', 'headers', 'body', 'tenant');
  const near = fc.tuple(request, request, part).map(([a, b, at]) => [a, { ...a, [at]: b[at] }] as const);
  fc.assert(
    fc.property(fc.oneof(fc.tuple(request, request), near), ([a, b]) => {
      const isSame = isDeepStrictEqual(seen(a), seen(b));
      counts[isSame ? 'same' : 'different']++;
      expect(keyOf(a) === keyOf(b)).toBe(isSame);
    }),
    { numRuns: 3000 },
  );
  return counts;
}

describe('Two requests have one key exactly if the handler would see the same', () => {
  it('by the names it takes', () => {
    class Products {
      find(
        @Param('id') _id: unknown,
        @Query('a') _a: unknown,
        @Query('toString') _odd: unknown,
        @Headers('a') _header: unknown,
        @Headers('accept-language') _language: unknown,
        @Body('filter') _filter: unknown,
        @Tenant() _tenant: unknown,
      ) {}
    }
    const { key } = resolve(Products);
    const counts = comparePairs(key, (of) => [
      property(of['params'], 'id'),
      property(of['query'], 'a'),
      property(of['query'], 'toString'),
      property(of.headers, 'a'),
      // Spellings of one list share an entry.
      String(property(of.headers, 'accept-language')).toLowerCase().replaceAll(' ', ''),
      property(of['body'], 'filter'),
      of['tenant'],
    ]);
    expect(counts.same).toBeGreaterThan(50);
    expect(counts.different).toBeGreaterThan(50);
  });

  it('by the whole query', () => {
    class Products {
      find(@Query() _query: unknown) {}
    }
    const { key } = resolve(Products);
    const counts = comparePairs(key, (of) =>
      Object.entries(of['query'] as object)
        .sort(byName)
        .map(text),
    );
    expect(counts.same).toBeGreaterThan(50);
    expect(counts.different).toBeGreaterThan(50);
  });

  it('in whatever order a query comes', () => {
    class Products {
      find(@Query() _query: unknown, @Query('a') _a: unknown) {}
    }
    const { key } = resolve(Products);
    fc.assert(fc.property(request, (of) => expect(key(reversed(of))).toBe(key(of))));
  });
});
