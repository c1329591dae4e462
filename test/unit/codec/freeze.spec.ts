import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';

import { deepFreeze, freezeJson } from '../../../lib/core/codec/index.js';
import { same } from './same.js';

function value() {
  return {
    list: [{ n: 1 }],
    at: new Date(0),
    map: new Map([[{ key: 1 }, { inside: [1] }]]),
    set: new Set([{ element: 1 }]),
    query: new URLSearchParams('a=1'),
    error: new Error('e', { cause: { c: 1 } }),
    bytes: Buffer.from('abc'),
  };
}

describe('deepFreeze', () => {
  const frozen = deepFreeze(value());
  const [mapKey] = [...frozen.map.keys()];

  it.each<[string, () => unknown]>([
    ['a property', () => (frozen.list = [])],
    ['a new property', () => Object.assign(frozen, { more: 1 })],
    ['an array', () => frozen.list.push({ n: 2 })],
    ['an element', () => (frozen.list[0]!.n = 2)],
    ['a Map', () => frozen.map.set({ key: 2 }, { inside: [] })],
    ['a Map by clear', () => frozen.map.clear()],
    ['a key of a Map', () => (mapKey!.key = 2)],
    ['a value of a Map', () => frozen.map.get(mapKey!)?.inside.push(2)],
    ['a Set', () => frozen.set.add({ element: 2 })],
    ['an element of a Set', () => ([...frozen.set][0]!.element = 2)],
    ['a Date', () => frozen.at.setTime(1)],
    ['a Date by its parts', () => frozen.at.setUTCFullYear(2000)],
    ['URLSearchParams', () => frozen.query.append('b', '2')],
    ['the cause of an error', () => Object.assign(frozen.error.cause as object, { c: 2 })],
  ])('makes changing %s throw', (_what, change) => {
    expect(change).toThrow(TypeError);
    expect(same(frozen.list, [{ n: 1 }])).toBe(true);
    expect(frozen.map.size + frozen.set.size + frozen.at.getTime()).toBe(2);
  });

  it('leaves the value equal to what it was', () => {
    expect(isDeepStrictEqual(deepFreeze(value()), value())).toBe(true);
    expect(deepFreeze(null)).toBeNull();
    expect(deepFreeze('text')).toBe('text');
  });

  it('leaves bytes writable, which nothing can help', () => {
    expect(() => frozen.bytes.fill(0)).not.toThrow();
  });

  it('ends on a value that contains itself, and freezes one nested a hundred thousand deep', () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    expect(Object.isFrozen(deepFreeze(circular))).toBe(true);
    let deep: unknown[] = [];
    const innermost = deep;
    for (let i = 0; i < 100_000; i++) deep = [deep];
    deepFreeze(deep);
    expect(Object.isFrozen(innermost)).toBe(true);
  });

  it('freezes below what was frozen on the surface only', () => {
    const shallow = Object.freeze({ inner: { n: 1 } });
    expect(Object.isFrozen(deepFreeze(shallow).inner)).toBe(true);
  });
});

describe('freezeJson', () => {
  const isFrozen = (tree: unknown): boolean =>
    typeof tree !== 'object' ||
    tree === null ||
    (Object.isFrozen(tree) && Object.values(tree).every(isFrozen));

  it('freezes all of what JSON can say, and changes nothing', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const value: unknown = freezeJson(JSON.parse(text));
        expect(isFrozen(value)).toBe(true);
        expect(value).toStrictEqual(JSON.parse(text));
      }),
    );
  });

  it('freezes what is nested deeper than the stack is high', () => {
    const depth = 20_000;
    let inner: unknown = freezeJson(JSON.parse('['.repeat(depth) + ']'.repeat(depth)));
    for (let at = 0; at < depth; at++) {
      expect(Object.isFrozen(inner)).toBe(true);
      inner = (inner as unknown[])[0];
    }
  });

  it('leaves what others hung on Object.prototype alone', () => {
    const foreign = {};
    Object.defineProperty(Object.prototype, 'foreign', {
      value: foreign,
      enumerable: true,
      configurable: true,
    });
    try {
      freezeJson(JSON.parse('{"own":{"__proto__":{}}}'));
      expect(Object.isFrozen(foreign)).toBe(false);
      expect(Object.isFrozen(Object.prototype)).toBe(false);
    } finally {
      Reflect.deleteProperty(Object.prototype, 'foreign');
    }
  });
});
