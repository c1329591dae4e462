import { decoratorOf, readDeclaration, type InputKind } from '../route/inputs/index.js';

const REFUSED: ReadonlySet<InputKind> = new Set(['req', 'res', 'next', 'session', 'ip']);

/** The first parameter of a handler that can't be part of a key, or must not be without the author's word. */
export function refusedInputOf(prototype: object, method: string | symbol): string | undefined {
  // All headers: no two clients send the same.
  const refused = readDeclaration(prototype, method).inputs.find(
    ({ kind, name }) => REFUSED.has(kind) || (kind === 'headers' && name === undefined),
  );
  if (refused === undefined) return undefined;
  return refused.kind === 'headers' ? '@Headers() without a name' : decoratorOf(refused);
}
