import { rounded } from '../stats.mjs';

/** JSON knows no infinity: a call that was never served. */
const NEVER = 'never';

export function lineOf(figures) {
  return JSON.stringify(figures, (_key, value) => (value === Infinity ? NEVER : rounded(value)));
}

export function parseLines(text) {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line, (_key, value) => (value === NEVER ? Infinity : value)));
}
