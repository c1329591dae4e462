/** A row as an API answers it: a few words, numbers and a list; about 200 bytes of JSON. */
const row = (index) => ({
  id: 100_000 + index,
  sku: `SKU-${index % 977}-A`,
  name: `Product number ${index}`,
  price: 19.99 + index,
  inStock: index % 3 !== 0,
  tags: ['new', 'sale'],
  updatedAt: '2026-01-05T10:20:30.000Z',
  owner: { id: 7, name: 'Ada' },
});

/** By the size of their JSON. */
export const VALUES = {
  '200 B': { ...row(1), note: 'abcdefghi' },
  '20 KB': { page: 1, items: Array.from({ length: 105 }, (_, index) => row(index)) },
};
