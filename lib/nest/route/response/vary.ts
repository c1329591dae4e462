import type { HeaderValue } from './reply.js';

/** `Vary` with further names: none twice, `*` stays alone. */
export function varyWith(existing: HeaderValue | undefined, names: readonly string[]): string {
  const there = existing === undefined ? [] : typeof existing === 'string' ? [existing] : existing;
  const all = new Map<string, string>();
  for (const name of [...there.flatMap((line) => line.split(',')), ...names]) {
    const trimmed = name.trim();
    if (trimmed === '*') return '*';
    const key = trimmed.toLowerCase();
    if (trimmed !== '' && !all.has(key)) all.set(key, trimmed);
  }
  return [...all.values()].join(', ');
}
