import type { Class } from '../codec/index.js';
import { toMilliseconds } from '../duration.js';
import { ConfigurationError } from '../errors.js';
import { show } from '../show.js';
import type { Serializer } from './policy.js';

/** A user's function, called with what it was declared for. */
// The one place where a checked `function` becomes callable: its parameters are the user's own declaration.
export type UserFunction = <R>(...args: readonly unknown[]) => R;

export interface Check {
  duration(name: string, fallback: number): number;
  positive(name: string, fallback: number): number;
  optionalDuration(name: string): number | undefined;
  fn(name: string): UserFunction | undefined;
  oneOf<V extends string>(name: string, values: readonly [V, ...V[]]): V;
  flag(name: string): boolean;
  text(name: string, fallback: string): string;
  classes(name: string): readonly Class[];
  serializer(name: string): Serializer | undefined;
}

/** One validator per kind of option; each error quotes what was received. `values[0]` of `oneOf` is the default. */
export function checkers(given: Readonly<Record<string, unknown>>, where: string): Check {
  const fail = (name: string, expected: string): never => {
    throw new ConfigurationError(`${where}: ${name} is ${expected}, received ${show(given[name])}.`);
  };
  const duration = (name: string, fallback: number): number =>
    given[name] === undefined ? fallback : toMilliseconds(given[name], `${where}: ${name}`);

  return {
    duration,
    positive(name, fallback) {
      const value = duration(name, fallback);
      return value > 0 ? value : fail(name, 'a duration above 0');
    },
    optionalDuration: (name) => (given[name] === undefined ? undefined : duration(name, 0)),
    fn(name) {
      const value = given[name];
      if (value === undefined) return undefined;
      return typeof value === 'function' ? (value as UserFunction) : fail(name, 'a function');
    },
    oneOf(name, values) {
      const value = given[name];
      if (value === undefined) return values[0];
      return values.find((one) => one === value) ?? fail(name, `one of ${values.map(show).join(', ')}`);
    },
    flag(name) {
      const value = given[name] ?? false;
      return typeof value === 'boolean' ? value : fail(name, 'true or false');
    },
    text(name, fallback) {
      const value = given[name] ?? fallback;
      return typeof value === 'string' && value !== '' ? value : fail(name, 'a text');
    },
    classes(name) {
      const value = given[name] ?? [];
      return Array.isArray(value) && value.every(isClass) ? value : fail(name, 'an array of error classes');
    },
    serializer(name) {
      const value = given[name];
      if (value === undefined) return undefined;
      return isSerializer(value) ? value : fail(name, 'an object { name, encode, decode }');
    },
  };
}

export function isClass(value: unknown): value is Class {
  return typeof value === 'function' && typeof value.prototype === 'object' && value.prototype !== null;
}

function isSerializer(value: unknown): value is Serializer {
  if (typeof value !== 'object' || value === null) return false;
  const { name, encode, decode } = value as Partial<Serializer>;
  return (
    typeof name === 'string' &&
    /^.{1,64}$/.test(name) &&
    typeof encode === 'function' &&
    typeof decode === 'function'
  );
}
