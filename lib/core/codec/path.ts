import { types } from 'node:util';

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/**
 * The path to where a walk stands, as JavaScript would write it: `items[3].price`. `ancestors` are the containers from
 * the root on, `steps[i]` what was taken from `ancestors[i]`: a property, or a position in an array, a Set or the
 * alternating keys and values of a Map. Put into words only for an error, so that walking costs nothing.
 */
export function pathOf(ancestors: readonly object[], steps: readonly (string | number)[]): string {
  const text = ancestors.map((container, i) => stepOf(container, steps[i] ?? '')).join('');
  return text.startsWith('.') && IDENTIFIER.test(text.slice(1).split(/[.[]/, 1)[0] ?? '')
    ? text.slice(1)
    : text;
}

/** The same as a pattern for `type`: `items[].price`; undefined where no pattern can say it. */
export function patternOf(
  ancestors: readonly object[],
  steps: readonly (string | number)[],
): string | undefined {
  let pattern = '';
  for (const [i, container] of ancestors.entries()) {
    const step = steps[i] ?? '';
    if (types.isMap(container) && Number(step) % 2 === 0) return undefined;
    if (typeof step === 'string' && (step === '' || /[.[\]]/.test(step))) return undefined;
    pattern += typeof step === 'number' ? '[]' : pattern === '' ? step : `.${step}`;
  }
  return pattern;
}

function stepOf(container: object, step: string | number): string {
  if (typeof step === 'string') return IDENTIFIER.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`;
  if (types.isMap(container)) return `.${step % 2 === 0 ? 'keys' : 'values'}()[${Math.floor(step / 2)}]`;
  return types.isSet(container) ? `.values()[${step}]` : `[${step}]`;
}
