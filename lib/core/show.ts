import { inspect } from 'node:util';

/** A received value in an error message: short, on one line. */
export function show(value: unknown): string {
  if (typeof value === 'function') return value.name === '' ? 'a function' : `the function ${value.name}`;
  const text = inspect(value, { depth: 1, breakLength: Infinity, maxArrayLength: 5, maxStringLength: 80 });
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
