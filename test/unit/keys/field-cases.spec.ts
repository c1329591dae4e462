import { encodeArgs, encodeKey, encodePart, entryKey } from '../../../lib/core/keys/index.js';
import { serverSlot } from './server-slot.js';

const idOf = (...args: unknown[]): string => entryKey('Svc.m', undefined, encodeArgs(args)).id;
const distinct = (calls: readonly (readonly unknown[])[]): number =>
  new Set(calls.map((args) => idOf(...args))).size;

describe('keys in the field', () => {
  it('FC-022: each language has its own key, and an 8 KB header value makes a bounded one', () => {
    const languages = ['en', 'fr', 'de', undefined];
    expect(new Set(languages.map((language) => entryKey('Ctl.get', [language], "'/'").id)).size).toBe(4);
    const absurd = 'en;q=0.1, '.repeat(820);
    expect(entryKey('Ctl.get', [absurd], "'/'").id.length).toBeLessThanOrEqual(200);
    expect(entryKey('Ctl.get', [absurd], "'/'").id).not.toBe(entryKey('Ctl.get', [`${absurd}x`], "'/'").id);
  });

  it('FC-023: nested fields are part of the key', () => {
    const at5 = (status: string): unknown => ({ a: { b: { c: { d: { status } } } } });
    expect(
      distinct([
        [{ page: 1, filter: { status: 'draft' } }],
        [{ page: 1, filter: { status: 'published' } }],
        [at5('draft')],
        [at5('published')],
        [{ any: [{ x: 1 }, { status: 'draft' }] }],
        [{ any: [{ x: 1 }, { status: 'published' }] }],
      ]),
    ).toBe(6);
  });

  it('FC-034: names that differ at all have different keys, however alike they look', () => {
    const names = ['t.get', 'u.get', 't.get:1', 't', 't.', 'get', 't get', 'T.get', 't.get%', 'shop/t.get'];
    expect(new Set(names.map((name) => entryKey(name, undefined, '1').id)).size).toBe(names.length);
  });

  it('FC-035: two methods without arguments have two keys', () => {
    expect(entryKey('Svc.a', undefined, encodeArgs([])).id).not.toBe(
      entryKey('Svc.b', undefined, encodeArgs([])).id,
    );
  });

  it.each([':', '|', '\0', '{', '}', '{}', '\n', ',', "','", '/', '#', '%'])(
    'FC-041: the separator %j inside an argument makes no two calls equal',
    (s) => {
      const calls = [[`a${s}b`, 'c'], ['a', `b${s}c`], [`a${s}b${s}c`], [['a', 'b'], 'c'], ['a', 'b', 'c']];
      expect(distinct(calls)).toBe(5);
      for (const args of calls) {
        const id = idOf(...args);
        expect(serverSlot(`ns:d:{${id}}`)).toBe(serverSlot(id));
      }
    },
  );

  it('FC-042: absent, undefined, null and their names are different arguments', () => {
    expect(idOf()).toBe(idOf(undefined));
    expect(idOf({})).toBe(idOf({ order: undefined }));
    const calls = [[], [null], ['undefined'], ['null'], [''], [{}], [{ order: null }], [10], [undefined, 1]];
    expect(distinct(calls)).toBe(calls.length);
  });

  it('FC-043: values of different types are different arguments', () => {
    expect(idOf(0)).toBe(idOf(-0));
    expect(idOf(NaN)).toBe(idOf(NaN));
    const calls = [
      1,
      '1',
      1n,
      true,
      'true',
      NaN,
      'NaN',
      0,
      Infinity,
      -Infinity,
      'Infinity',
      '1n',
      [1],
      ['1'],
      new Set([1]),
    ];
    expect(distinct(calls.map((value) => [value]))).toBe(calls.length);
  });

  it('FC-087: long keys that differ in the middle differ, and no short argument has the look of a hash', () => {
    const long = (middle: string): string => 'x'.repeat(500_000) + middle + 'x'.repeat(500_000);
    const [a, b] = [idOf(long('a')), idOf(long('b'))];
    const [c, d] = [idOf(...Array<string>(300).fill('a')), idOf(...Array<string>(299).fill('a'), 'b')];
    const hashOf = (id: string): string => id.slice(id.indexOf('#'));
    const imitations = [a, c].flatMap((id) => [
      idOf(hashOf(id)),
      idOf(hashOf(id).slice(0, -1)),
      idOf(id),
      entryKey(id, undefined, '').id,
    ]);
    const ids = [a, b, c, d, ...new Set(imitations)];
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of ids) expect(id.length).toBeLessThanOrEqual(200);
    for (const id of [a, b, c, d]) expect(id).toContain('#');
    for (const id of imitations) expect(id).not.toMatch(/^Svc\.m:'?#/);
  });

  it('FC-105: odd braces do not throw and do not choose the slot; ours are the only ones', () => {
    const keys = ['{org1}:a', 'a}b{c', '{', '{}', '}', '{{}}'];
    const ids = keys.map((key) => entryKey(undefined, undefined, encodeKey(key)).id);
    expect(new Set(ids).size).toBe(keys.length);
    for (const id of ids) {
      expect(id).not.toMatch(/[{}]/);
      expect(serverSlot(`ns:d:{${id}}`)).toBe(serverSlot(`ns:l:{${id}}`));
    }
    expect(serverSlot(`ns:d:{${ids[0]}}`)).not.toBe(serverSlot('org1'));
  });

  it('FC-120: different lone surrogates do not collide, alone, in pairs, in long strings and in names', () => {
    const texts = [
      '\ud800',
      '\ud801',
      '\udc00',
      '\ufffd',
      '\ud800\udc00',
      '\udc00\ud800',
      '%uD800',
      '%ED%A0%80',
    ];
    expect(new Set(texts.map(encodePart)).size).toBe(texts.length);
    const long = texts.map((text) => encodePart('x'.repeat(300) + text));
    expect(new Set(long).size).toBe(texts.length);
    expect(new Set(texts.map((name) => entryKey(name, undefined, '').id)).size).toBe(texts.length);
  });
});
