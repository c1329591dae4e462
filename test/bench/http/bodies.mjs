/** Bytes of a body as JSON. */
export const SIZES = [200, 5_000];

/** What the busy interceptor computes, in µs. */
export const BUSY = 2.5;

const ITEM = 80;

/** An object of products that is `size` bytes of JSON. */
export function bodyOf(size, id) {
  const items = Array.from({ length: Math.floor((size - 60) / ITEM) }, (_, index) => ({
    sku: `SKU-${String(index).padStart(6, '0')}`,
    name: `Product number ${index}`,
    price: 1_999 + index,
    stock: index % 17,
  }));
  const body = { id, items, note: '' };
  body.note = '.'.repeat(Math.max(0, size - JSON.stringify(body).length));
  return body;
}

export function rawKey(size, id) {
  return `raw:${size}:${id}`;
}
