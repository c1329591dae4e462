import type { ErrorNote, Row } from './records.js';

/** The row as a value of the cache, with the load's bare id; nothing for anything else. */
export function rowOf(value: unknown): Row | undefined {
  if (typeof value !== 'object' || value === null || !('load' in value)) return undefined;
  const row = value as Row; // only rows are loaded and set here
  return { ...row, load: row.load.replaceAll('~', '') };
}

/** What the records keep of an error. */
export function noteOf(error: unknown): ErrorNote {
  return error instanceof Error
    ? { name: error.name, message: error.message }
    : { name: 'NonError', message: String(error) };
}
