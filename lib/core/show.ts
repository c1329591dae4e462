import { inspect } from 'node:util';

/** A received value in an error message: short, on one line. */
export function show(value: unknown): string {
  if (typeof value === 'function') return value.name === '' ? 'a function' : `the function ${value.name}`;
  const text = describe(value).replace(/\s+/g, ' ');
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}

function describe(value: unknown): string {
  try {
    if (value instanceof Error) return `${value.name}: ${value.message}`;
    return inspect(value, { depth: 1, breakLength: Infinity, maxArrayLength: 5, maxStringLength: 80 });
  } catch {
    // An object may bring its own way of being inspected, and that may throw.
    return `a value of type ${typeof value}`;
  }
}
