import { ConfigurationError } from '../../core/errors.js';
import { show } from '../../core/show.js';
import type { EvictionDeclaration } from './eviction-declaration.js';

/** A function of the user's, called as the evicting method was, behind its result. */
type Callback = (this: object, result: unknown, ...args: readonly unknown[]) => unknown;

/** What one `@CacheEvict` or `@CachePut` asks for, once checked. */
export interface EvictionPlan {
  /** The name of a method of the same class, or what tells class and method. Undefined: tags alone. */
  readonly of: string | symbol | (() => unknown) | undefined;
  readonly args: Callback | undefined;
  readonly tags: readonly string[] | Callback | undefined;
  readonly when: 'after' | 'before';
  readonly onFailure: 'retry' | 'throw';
  /** Where tags without `of` are. */
  readonly cache: string | undefined;
}

const KNOWN = {
  evict: ['of', 'args', 'tags', 'when', 'onFailure', 'cache'],
  put: ['of', 'args'],
} as const;

/** @throws ConfigurationError naming the method, the option and the value received */
export function planOf({ kind, options }: EvictionDeclaration, where: string): EvictionPlan {
  if (typeof options !== 'object' || options === null) {
    throw new ConfigurationError(
      `${where}: takes options such as { of: 'findOne', args: (_result, id) => [id] }, received ${show(options)}.`,
    );
  }
  const known: readonly string[] = KNOWN[kind];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new ConfigurationError(`${where}: unknown option ${show(unknown)}. Known: ${known.join(', ')}.`);
  }
  const given = options as Readonly<Record<string, unknown>>; // a look by name; each value is judged here
  checkOf(given, where);
  checkArgs(given, kind, where);
  checkTags(given['tags'], where);
  checkCache(given, where);
  return {
    ...(given as Pick<EvictionPlan, 'of' | 'args' | 'tags' | 'cache'>), // just checked
    when: oneOf(given, 'when', ['after', 'before'], where),
    onFailure: oneOf(given, 'onFailure', ['retry', 'throw'], where),
  };
}

function checkOf({ of, tags }: Readonly<Record<string, unknown>>, where: string): void {
  if (typeof of === 'function' || typeof of === 'symbol' || (typeof of === 'string' && of !== '')) return;
  if (of === undefined && tags !== undefined) return;
  throw new ConfigurationError(
    `${where}: of is the name of a @Cached method of the same class, or a function () => [Class, 'method'], unless there are tags; received ${show(of)}.`,
  );
}

function checkArgs({ of, args }: Readonly<Record<string, unknown>>, kind: string, where: string): void {
  if (args === undefined && kind === 'put') {
    throw new ConfigurationError(
      `${where}: args is missing. It tells which entry is replaced: args: (result, id) => [id].`,
    );
  }
  if (args !== undefined && typeof args !== 'function') {
    throw new ConfigurationError(
      `${where}: args is a function (result, ...args) => [...] that gives the arguments of the call whose entry is meant, received ${show(args)}.`,
    );
  }
  if (args !== undefined && of === undefined) {
    throw new ConfigurationError(
      `${where}: args are those of a @Cached method. Name it with of, or remove args.`,
    );
  }
}

function checkTags(tags: unknown, where: string): void {
  if (tags === undefined || typeof tags === 'function') return;
  if (Array.isArray(tags) && tags.length > 0 && tags.every((tag) => typeof tag === 'string' && tag !== ''))
    return;
  throw new ConfigurationError(
    `${where}: tags are an array of texts that are not empty, or a function (result, ...args) => [...] that gives them, received ${show(tags)}.`,
  );
}

function checkCache({ cache, of }: Readonly<Record<string, unknown>>, where: string): void {
  if (cache === undefined) return;
  if (of !== undefined) {
    throw new ConfigurationError(
      `${where}: cache ${show(cache)} stands beside of, whose method has a cache of its own. Remove it.`,
    );
  }
  if (typeof cache === 'string' && cache !== '') return;
  throw new ConfigurationError(`${where}: cache is a text that is not empty, received ${show(cache)}.`);
}

function oneOf<V extends string>(
  given: Readonly<Record<string, unknown>>,
  name: string,
  values: readonly [V, V],
  where: string,
): V {
  const value = given[name];
  if (value === undefined) return values[0];
  const found = values.find((one) => one === value);
  if (found !== undefined) return found;
  throw new ConfigurationError(`${where}: ${name} is '${values.join("' or '")}', received ${show(value)}.`);
}
