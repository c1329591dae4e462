/** The greatest length an array can have. */
export const MAX_LENGTH = 2 ** 32 - 1;

/** The name of an array's element as a number, undefined for any other property. */
export function arrayIndex(name: string): number | undefined {
  const index = Number(name);
  return Number.isInteger(index) && index >= 0 && index < MAX_LENGTH && String(index) === name
    ? index
    : undefined;
}
