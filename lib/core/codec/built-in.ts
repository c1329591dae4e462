import { types } from 'node:util';

import { isBinary, isBinaryName } from './binary.js';

const NATIVE = /\{\s*\[native code\]\s*\}$/;

const NATIVE_ERRORS: readonly string[] = [
  'Error',
  'TypeError',
  'RangeError',
  'SyntaxError',
  'ReferenceError',
  'EvalError',
  'URIError',
  'AggregateError',
];

/** Whether the class of that name is an error of the language itself. */
export function isErrorName(name: string): boolean {
  return NATIVE_ERRORS.includes(name);
}

/**
 * The name of the built-in class `value` is a direct instance of, by its prototype *and* by what it is inside: neither
 * an instance of a subclass nor a bare object on that prototype counts. Instances from another realm (a vm context, a
 * test runner's) count too and come back as this realm's.
 */
export function builtInOf(value: object, prototype: object): string | undefined {
  const name = classNameOf(prototype);
  return name !== undefined && isReally(value, name) ? name : undefined;
}

function classNameOf(prototype: object): string | undefined {
  if (prototype === Date.prototype) return 'Date';
  if (prototype === Buffer.prototype) return 'Buffer';
  if (prototype === URL.prototype) return 'URL';
  if (prototype === URLSearchParams.prototype) return 'URLSearchParams';
  const constructor: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value;
  if (typeof constructor !== 'function' || constructor.prototype !== prototype) return undefined;
  return NATIVE.test(Function.prototype.toString.call(constructor)) ? constructor.name : undefined;
}

function isReally(value: object, name: string): boolean {
  switch (name) {
    case 'Object':
      return !Array.isArray(value);
    case 'Array':
      return Array.isArray(value);
    case 'Date':
      return types.isDate(value);
    case 'Map':
      return types.isMap(value);
    case 'Set':
      return types.isSet(value);
    case 'RegExp':
      return types.isRegExp(value);
    case 'Buffer':
      return types.isUint8Array(value);
    case 'URL':
    case 'URLSearchParams':
      return !types.isProxy(value);
    default:
      return isErrorName(name) ? types.isNativeError(value) : isBinaryName(name) && isBinary(value, name);
  }
}
