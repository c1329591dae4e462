import {
  encodeArgs,
  encodeKey,
  encodePart,
  entryKey,
  keyDigest,
  withVariant,
} from '../../../lib/core/keys/index.js';

const id = (name: string | undefined, ...args: unknown[]): string =>
  entryKey(name, undefined, encodeArgs(args)).id;

describe('the id of an entry', () => {
  it('reads like the call', () => {
    expect(id('ProductsService.findOne', 42)).toBe('ProductsService.findOne:42');
    expect(id('ProductsService.findBy', 'a@b.c', { page: 1 })).toBe(
      "ProductsService.findBy:'a@b.c',(page:1)",
    );
    expect(id('ProductsService.all')).toBe('ProductsService.all:');
    expect(entryKey('Orders.mine', 'acme', encodeArgs([1])).id).toBe("Orders.mine@'acme':1");
    expect(entryKey(undefined, undefined, encodeKey(42)).id).toBe(':42');
    expect(entryKey(undefined, undefined, encodeKey(['product', 42])).id).toBe(":['product',42]");
  });

  it('keeps name, vary part and arguments apart', () => {
    const ids = [
      entryKey('a', undefined, encodePart('b')),
      entryKey("a:'b'", undefined, encodeArgs([])),
      entryKey("a:'b'", undefined, encodePart('b')),
      entryKey('a', 'b', encodeArgs([])),
      entryKey("a@'b'", undefined, encodeArgs([])),
      entryKey(undefined, 'a', encodePart('b')),
      entryKey('', 'a', encodePart('b')),
      entryKey('%', 'a', encodePart('b')),
      entryKey('a', null, encodePart('b')),
      entryKey('a', 1, encodePart('b')),
      entryKey('a', '1', encodePart('b')),
      entryKey('a', { tenant: 1, locale: 'en' }, encodePart('b')),
    ].map((key) => key.id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is hashed from 201 characters on, with the start of the name and a mark before the hash', () => {
    const args = (length: number): string[] => ['x'.repeat(length - 'Svc.find:'.length - 5), 'y'];
    expect(id('Svc.find', ...args(199))).toHaveLength(200);
    expect(id('Svc.find', ...args(199))).not.toContain('#');
    expect(id('Svc.find', ...args(200))).toMatch(/^Svc\.find:#[\w-]{43}$/);
    expect(id('n'.repeat(300), 1)).toMatch(/^n{80}:#[\w-]{43}$/);
  });

  it('differs for long names and vary parts that differ at their end only', () => {
    const long = 'n'.repeat(300);
    const ids = [
      id(`${long}a`, 1),
      id(`${long}b`, 1),
      entryKey(long, `${long}a`, '1').id,
      entryKey(long, `${long}b`, '1').id,
    ];
    expect(new Set(ids).size).toBe(ids.length);
  });
});

describe('the digest of an id', () => {
  it('stays what it is: entries in Redis carry it', () => {
    expect(keyDigest('ProductsService.findOne:42')).toBe('miSaaVAI');
    expect(keyDigest(':')).toBe('C03dD9x7');
    expect(entryKey('ProductsService.findOne', undefined, '42').digest).toBe('miSaaVAI');
  });

  it('is the same for every variant of the entry', () => {
    const key = withVariant(entryKey('Svc.find', undefined, '1', '.2'), '.3');
    expect([key.id, key.variant, key.digest]).toEqual(['Svc.find:1', '.3', keyDigest('Svc.find:1')]);
  });

  it('differs for 200,000 ids that are alike', () => {
    const digests = new Set<string>();
    for (let i = 0; i < 100_000; i++)
      digests.add(keyDigest(`Svc.find:${i}`)).add(keyDigest(`Svc.find:'${i}'`));
    expect(digests.size).toBe(200_000);
  });
});
