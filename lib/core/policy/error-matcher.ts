import { ConfigurationError } from '../errors.js';
import { show } from '../show.js';
import { isClass } from './checks.js';

/** One predicate for what `negativeErrors` names: classes by `instanceof`, functions by their answer. */
export function matcherOf(given: unknown, where: string): ((error: unknown) => boolean) | undefined {
  if (given === undefined) return undefined;
  const matchers = (Array.isArray(given) ? (given as unknown[]) : [given]).map((one) => single(one, where));
  return (error) => matchers.some((matches) => matches(error));
}

function single(given: unknown, where: string): (error: unknown) => boolean {
  if (typeof given !== 'function') {
    throw new ConfigurationError(
      `${where} is an error class, a function (error) => boolean, or an array of them, received ${show(given)}.`,
    );
  }
  if (isErrorClass(given)) return (error) => error instanceof given;
  // A function that is no error class is the user's predicate.
  return (error) => (given as (error: unknown) => unknown)(error) === true;
}

function isErrorClass(given: unknown): given is abstract new (...args: never[]) => object {
  if (!isClass(given)) return false;
  const proto: unknown = given.prototype;
  return (
    proto instanceof Error || given === Error || /^class\b/.test(Function.prototype.toString.call(given))
  );
}
