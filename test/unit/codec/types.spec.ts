import {
  CodecConfigurationError,
  DecodeError,
  decodeValue,
  encodeValue,
  resolveTypes,
  UncacheableValue,
  type TypeMap,
  type TypeOption,
} from '../../../lib/core/codec/index.js';
import { Money, Product, ProductNotFound } from './fixtures.js';

function roundTrip(value: unknown, types: TypeMap | undefined): unknown {
  const { codec, bytes } = encodeValue(value, types);
  return decodeValue(codec, bytes, types);
}

describe('type', () => {
  it('restores instances of one class wherever they are, without calling the constructor', () => {
    const value = {
      one: new Product(1, 'a'),
      more: [new Map([['k', new Product(2, 'b')]]), new Set([new Product(3, 'c')])],
    };
    const made = Product.made;
    const read = roundTrip(value, resolveTypes(Product, 'test')) as typeof value;
    expect(read).toStrictEqual(value);
    expect(read.one.label).toBe('a (1)');
    expect(Product.made).toBe(made);
  });

  it.each([
    ['', new Money(1)],
    ['$', new Money(1)],
    ['price', { price: new Money(1) }],
    ['$.price', { price: new Money(1) }],
    ['a.b', { a: { b: new Money(1) } }],
    ['[]', [new Money(1), new Money(2)]],
    ['$[]', [new Money(1), null]],
    ['[][]', [[new Money(1)]]],
    ['[].price', [{ price: new Money(1) }, { price: undefined }]],
    ['items[].price', { items: [{ price: new Money(1) }, { price: 3n }] }],
    ['byName[].price', { byName: new Map([['a', { price: new Money(1) }]]) }],
    ['all[]', { all: new Set([new Money(1)]) }],
  ])('restores instances at the path %p', (path, value) => {
    expect(roundTrip(value, resolveTypes({ [path]: Money }, 'test'))).toStrictEqual(value);
  });

  it('knows several classes by their paths, also within instances', () => {
    class Line {
      constructor(
        readonly product: Product,
        readonly price: Money,
      ) {}
    }
    const value = { lines: [new Line(new Product(1, 'a'), new Money(5))] };
    const types = resolveTypes(
      { 'lines[]': Line, 'lines[].product': Product, 'lines[].price': Money },
      'test',
    );
    const read = roundTrip(value, types) as typeof value;
    expect(read).toStrictEqual(value);
    expect(read.lines[0]?.price.plus(new Money(1)).cents).toBe(6);
  });

  it('refuses an instance at another path, and one of a subclass', () => {
    class Special extends Product {}
    const types = resolveTypes({ 'a[]': Product }, 'test');
    expect(() => encodeValue({ b: [new Product(1, 'x')] }, types)).toThrow(UncacheableValue);
    expect(() => encodeValue({ a: [new Special(1, 'x')] }, types)).toThrow(
      /^a\[0\] is an instance of Special/,
    );
  });

  it('restores an error class with its hidden message and cause', () => {
    const read = roundTrip(new ProductNotFound(7), resolveTypes(ProductNotFound, 'test')) as ProductNotFound;
    expect(read).toBeInstanceOf(ProductNotFound);
    expect(read).toStrictEqual(new ProductNotFound(7));
    expect(read.cause).toEqual(new RangeError('beyond the last'));
    expect(Object.keys(read)).not.toContain('message');
  });

  it('calls no setter of the class when it restores', () => {
    class Guarded {
      set id(_value: number) {
        throw new Error('called');
      }
    }
    const value = Object.defineProperty(new Guarded(), 'id', { value: 1, enumerable: true });
    expect(
      Object.getOwnPropertyDescriptor(roundTrip(value, resolveTypes(Guarded, 'test')), 'id')?.value,
    ).toBe(1);
  });

  it('keeps plain JSON where no instance is in the value', () => {
    expect(encodeValue({ price: 1 }, resolveTypes({ price: Money }, 'test')).codec).toBe('j');
  });

  it('does not restore an instance as another class, or where the reader names none', () => {
    const { codec, bytes } = encodeValue({ a: new Product(1, 'x') }, resolveTypes(Product, 'test'));
    expect(() => decodeValue(codec, bytes)).toThrow(DecodeError);
    expect(() => decodeValue(codec, bytes, resolveTypes(Money, 'test'))).toThrow(
      /instance of Product .* names Money/,
    );
    expect(() => decodeValue(codec, bytes, resolveTypes({ b: Product }, 'test'))).toThrow(DecodeError);
  });

  it.each<[unknown, RegExp]>([
    ['Product', /^CatalogService\.find: type is 'Product'; give a class/],
    [[Product], /give a class, or a map of paths/],
    [{}, /an empty map/],
    [{ a: 'Product' }, /type\['a'\] is 'Product'; give a class/],
    [{ 'a..b': Product }, /has the path 'a\.\.b'/],
    [{ 'a[0]': Product }, /has the path 'a\[0\]'/],
    [{ '.a': Product }, /has the path '\.a'/],
    [{ 'a[]b': Product }, /has the path 'a\[\]b'/],
    [() => 1, /give a class/],
    [class {}, /without a name/],
    [Date, /is Date, which needs no type/],
    [Object, /is Object, which needs no type/],
    [class Tagged extends Map {}, /is Tagged, a subclass of Map/],
  ])('is checked at the start: %p', (option, message) => {
    const resolve = (): unknown => resolveTypes(option as TypeOption, 'CatalogService.find');
    expect(resolve).toThrow(CodecConfigurationError);
    expect(resolve).toThrow(message);
  });

  it('is nothing where the policy has none', () => {
    expect(resolveTypes(undefined, 'test')).toBeUndefined();
  });
});
