import { classify } from '../keys/classify.js';

/** Why an object is not stored, and what to do about it. */
export interface Refusal {
  readonly what: string;
  readonly fix: string;
}

export const CIRCULAR: Refusal = {
  what: 'one of the objects that contain it (a circular value)',
  fix: 'cut the cycle, for example by an id in place of the object',
};

export const TOO_DEEP: Refusal = {
  what: 'nested too deep',
  fix: 'return a flatter value, for example a list of nodes that name their parent',
};

export const OWN_PROPERTIES: Refusal = {
  what: 'a built-in object with properties of its own',
  fix: 'put them beside it, in a plain object',
};

export const SYMBOL_KEY: Refusal = {
  what: 'an object with a symbol as a property key',
  fix: 'use a string as the key, or make the property non-enumerable if it is not part of the value',
};

const LIVING_FIX: Readonly<Record<string, string>> = {
  'a promise': 'await it and return what it resolves to',
  'a stream': 'it can be read only once; collect it into a Buffer or a string',
};

/** An object no rule of the codec covers. `pattern` is its place as `type` would name it. */
export function refusalOf(prototype: object, pattern: string | undefined): Refusal {
  const { name, builtIn, living } = classify(prototype);
  if (living !== undefined) {
    return { what: living, fix: LIVING_FIX[living] ?? `return the data this ${name} stands for` };
  }
  if (typeof Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value !== 'function') {
    return { what: 'an object that inherits from another object', fix: 'copy what it inherits into it' };
  }
  if (builtIn === name) {
    return {
      what: `a ${name}, or an object made to look like one`,
      fix: 'return its contents as plain data',
    };
  }
  if (builtIn !== undefined && !builtIn.endsWith('Error')) {
    return { what: `an instance of ${name}, a subclass of ${builtIn}`, fix: `return a plain ${builtIn}` };
  }
  const type = pattern === undefined || pattern === '' ? name : `{ '${pattern}': ${name} }`;
  return {
    what: `an instance of ${name}`,
    fix: `name the class in the policy (type: ${type}), or return a plain object`,
  };
}
