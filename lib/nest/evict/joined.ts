import { InvalidationError } from '../../core/errors.js';

/** One error for several: the first that is not the store's, else one that names all that was not acknowledged. */
export function joined(errors: readonly unknown[]): unknown {
  const [first, second] = errors;
  const other = errors.find((error) => !(error instanceof InvalidationError));
  if (other !== undefined || second === undefined) return other ?? first;
  const all = errors as readonly InvalidationError[]; // no other was found
  return new InvalidationError(
    all.map(({ message }) => message).join(' '),
    [...new Set(all.flatMap(({ keys }) => keys))],
    { cause: first },
  );
}
