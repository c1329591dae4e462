import { resolveCacheOptions, type CacheOptions } from '../../core/cache-options.js';
import { ConfigurationError } from '../../core/errors.js';
import { resolvePolicy, type AnyPolicy } from '../../core/policy/index.js';
import { show } from '../../core/show.js';
import type { StampedeCacheModuleOptions } from '../interfaces/stampede-cache-module-options.interface.js';

/** Options of the cache itself, in the order of the documentation. */
const CACHE_OPTIONS = [
  'policy',
  'loads',
  'redisTimeout',
  'redisWriteTimeout',
  'coherence',
  'l1',
  'vary',
  'bypass',
  'enabled',
  'maxValueBytes',
] as const satisfies readonly (keyof CacheOptions)[];

const KNOWN: ReadonlySet<string> = new Set(['redis', 'namespace', 'requireRedis', ...CACHE_OPTIONS]);
/** What Nest must know before a factory runs. */
const OUTER: ReadonlySet<string> = new Set(['name', 'isGlobal', 'imports', 'inject', 'extraProviders']);

/**
 * Validates what `forRoot` was given or a factory returned.
 * @param where the cache in messages
 * @throws ConfigurationError naming the option and the value received
 */
export function checkModuleOptions(given: unknown, where: string): StampedeCacheModuleOptions {
  if (typeof given !== 'object' || given === null) {
    // A text is most likely the connection's URL, which may hold a password.
    throw new ConfigurationError(
      `${where}: options are an object such as { redis, namespace }, received ${typeof given === 'string' ? 'a text' : show(given)}.`,
    );
  }
  for (const [option, value] of Object.entries(given)) checkName(option, value, where);
  const options = given as StampedeCacheModuleOptions; // its names are known; its values are judged below
  checkRedis(options, where);
  checkNamespace(options.namespace, `${where}: namespace`);
  checkFlag(options.requireRedis, `${where}: requireRedis`);
  checkPolicy(options.policy, where);
  inContext(where, () => resolveCacheOptions(cacheOptionsOf(options)));
  return options;
}

/** The options of the core among those of the module. */
export function cacheOptionsOf(options: StampedeCacheModuleOptions): CacheOptions {
  return Object.fromEntries(
    CACHE_OPTIONS.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]),
  );
}

/** Whether a text can stand at the beginning of keys and channels: the hash tag's braces are this package's own. */
export function isPrefix(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !/[{}\p{Cc}]/u.test(value);
}

function checkNamespace(namespace: unknown, what: string): void {
  if (namespace === undefined || isPrefix(namespace)) return;
  throw new ConfigurationError(
    `${what} is a text such as 'shop', not empty, without { } and control characters; received ${show(namespace)}.`,
  );
}

export function checkFlag(value: unknown, what: string): void {
  if (value === undefined || typeof value === 'boolean') return;
  throw new ConfigurationError(`${what} is true or false, received ${show(value)}.`);
}

function checkName(option: string, value: unknown, where: string): void {
  if (KNOWN.has(option)) return;
  if (OUTER.has(option)) {
    throw new ConfigurationError(
      `${where}: ${option} stands in what the factory returned, where Nest can't see it in time. Move it beside useFactory: forRootAsync({ ${option}, useFactory }).`,
    );
  }
  throw new ConfigurationError(
    `${where}: unknown option ${show(option)}. Known: ${[...KNOWN].join(', ')}, name, isGlobal.`,
  );
}

function checkRedis(options: StampedeCacheModuleOptions, where: string): void {
  if (!('redis' in options)) {
    if (options.requireRedis !== true) return;
    throw new ConfigurationError(`${where}: requireRedis needs the option redis, which was left out.`);
  }
  if (options.redis === undefined) {
    throw new ConfigurationError(
      `${where}: redis is there and undefined. Give a connection, or leave the option out for the in-process store.`,
    );
  }
}

/**
 * Judges the policy under all others. It may lack a ttl: every entry can have its own.
 * @param warn takes advice about values that are allowed but probably not meant
 * @throws ConfigurationError
 */
export function checkPolicy(policy: unknown, where: string, warn?: (message: string) => void): void {
  if (policy === undefined) return;
  const defaults = policy as AnyPolicy; // judged by what it is handed to
  const lacksTtl = typeof policy === 'object' && policy !== null && defaults.ttl === undefined;
  resolvePolicy(lacksTtl ? { ttl: '1s' } : undefined, defaults, `${where}: policy`, warn);
}

function inContext(where: string, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    throw new ConfigurationError(`${where}: ${error.message}`, { cause: error });
  }
}
