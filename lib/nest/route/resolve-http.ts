import { validateHeaderValue } from 'node:http';
import { ConfigurationError } from '../../core/errors.js';
import { show } from '../../core/show.js';
import type { HttpOptions, RequestDirective } from '../interfaces/http-options.interface.js';

/** The option `http` with its defaults. */
export interface ResolvedHttp {
  readonly key: HttpOptions['key'];
  /** Judged where the handler's declaration is known. */
  readonly inputs: HttpOptions['inputs'];
  readonly public: boolean;
  readonly cacheControl: string | false;
  /** Whether the route asked for that text itself. */
  readonly saysCacheControl: boolean;
  readonly mayStore: (status: number) => boolean;
  /** Statuses that the author named one by one. */
  readonly namedStatuses: ReadonlySet<number>;
  readonly directives: ReadonlySet<RequestDirective>;
  /** Lower-case names of headers; none where nothing needs cover. */
  readonly credentials: readonly string[];
}

const KNOWN = ['key', 'inputs', 'public', 'cacheControl', 'statuses', 'requestDirectives', 'credentials'];
const DIRECTIVES: readonly RequestDirective[] = [
  'no-cache',
  'no-store',
  'only-if-cached',
  'max-age',
  'max-stale',
];
const CREDENTIALS = ['authorization', 'cookie'];
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;

/** @throws ConfigurationError naming `where`, the option and the value received */
export function resolveHttp(http: unknown, where: string): ResolvedHttp {
  const given = asOptions(http, where);
  const { key, inputs, cacheControl } = given;
  if (key !== undefined && typeof key !== 'function') {
    throw new ConfigurationError(
      `${where}: http.key is a function of the ExecutionContext, received ${show(key)}.`,
    );
  }
  const isPublic = flag(given.public, `${where}: http.public`);
  return {
    key,
    inputs,
    public: isPublic,
    cacheControl: cacheControlOf(cacheControl, where),
    saysCacheControl: cacheControl !== undefined,
    mayStore: statusesOf(given.statuses, where),
    namedStatuses: new Set(Array.isArray(given.statuses) ? (given.statuses as number[]) : []), // just checked
    directives: directivesOf(given.requestDirectives, where),
    credentials: credentialsOf(given.credentials, where),
  };
}

function asOptions(http: unknown, where: string): HttpOptions {
  if (http === undefined) return {};
  if (typeof http !== 'object' || http === null || Array.isArray(http)) {
    throw new ConfigurationError(
      `${where}: http is an object such as { public: true }, received ${show(http)}.`,
    );
  }
  const unknown = Object.keys(http).find((name) => !KNOWN.includes(name));
  if (unknown === undefined) return http;
  throw new ConfigurationError(
    `${where}: http: unknown option ${show(unknown)}. Known: ${KNOWN.join(', ')}.`,
  );
}

function flag(value: unknown, what: string): boolean {
  if (value === undefined || typeof value === 'boolean') return value ?? false;
  throw new ConfigurationError(`${what} is true or false, received ${show(value)}.`);
}

function cacheControlOf(value: unknown, where: string): string | false {
  if (value === undefined) return 'private, no-cache';
  if (value === false) return false;
  if (typeof value === 'string' && value !== '' && isHeaderValue(value)) return value;
  throw new ConfigurationError(
    `${where}: http.cacheControl is 'entry', the text of a Cache-Control header, or false, received ${show(value)}.`,
  );
}

function isHeaderValue(value: string): boolean {
  try {
    validateHeaderValue('Cache-Control', value);
    return true;
  } catch {
    return false;
  }
}

function statusesOf(value: unknown, where: string): (status: number) => boolean {
  if (value === undefined) return (status) => status >= 200 && status < 300;
  if (typeof value === 'function') return value as (status: number) => boolean; // its answer is a yes or a no
  if (Array.isArray(value) && value.every((status) => Number.isInteger(status))) {
    const statuses = new Set<unknown>(value);
    return (status) => statuses.has(status);
  }
  throw new ConfigurationError(
    `${where}: http.statuses is a list of statuses such as [200, 203], or a function of one, received ${show(value)}.`,
  );
}

function directivesOf(value: unknown, where: string): ReadonlySet<RequestDirective> {
  if (value === undefined || value === false) return new Set();
  if (value === true) return new Set(DIRECTIVES);
  if (Array.isArray(value) && value.every((name) => DIRECTIVES.includes(name as RequestDirective))) {
    return new Set(value as RequestDirective[]); // just checked
  }
  throw new ConfigurationError(
    `${where}: http.requestDirectives is true, false or a list of ${DIRECTIVES.join(', ')}, received ${show(value)}.`,
  );
}

function credentialsOf(value: unknown, where: string): readonly string[] {
  if (value === undefined) return CREDENTIALS;
  if (Array.isArray(value) && value.every((name) => typeof name === 'string' && TOKEN.test(name))) {
    return value.map((name: string) => name.toLowerCase());
  }
  throw new ConfigurationError(
    `${where}: http.credentials is a list of header names such as ['authorization', 'x-api-key'], received ${show(value)}.`,
  );
}
