import { ConfigurationError } from '../core/errors.js';
import { show } from '../core/show.js';
import { checkFields, checkUrl } from './connection-fields.js';
import { redact } from './redact.js';
import type { ClientLike } from './redis-like.js';

/** `redis: { nodes, options }`: a Cluster to connect to. */
export interface ClusterOption {
  readonly nodes: readonly (string | number | object)[];
  readonly options?: object;
}

/** What the option `redis` was understood as. */
export type Connection =
  | { readonly kind: 'instance'; readonly client: ClientLike }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'options'; readonly options: object }
  | { readonly kind: 'cluster'; readonly nodes: ClusterOption['nodes']; readonly options: object };

/** What options never have: ioredis's own functions among them are called otherwise. */
const CLIENT_METHODS = ['get', 'set', 'call', 'sendCommand', 'on', 'connect'] as const;

type Fields = Readonly<Record<string, unknown>>;

const ACCEPTED =
  'Pass a URL, ioredis options, { nodes, options } for a Cluster, { sentinels, name }, or an ioredis Redis or Cluster instance.';

/**
 * Tells the forms of the option `redis` apart.
 * @throws ConfigurationError for anything that is none of them, or that would read from replicas
 */
export function readConnection(redis: unknown): Connection {
  if (typeof redis === 'string') return { kind: 'url', url: readUrl(redis) };
  if (typeof redis !== 'object' || redis === null) throw refused(show(redis));
  const fields = redis as Fields; // any object may be looked at by name
  if (typeof fields['then'] === 'function') {
    throw refused('a Promise', 'Await it first, for example in the useFactory of forRootAsync.');
  }
  if (isIoredis(fields))
    return { kind: 'instance', client: masterOnly(redis as ClientLike, fields['options']) }; // just checked
  if (typeof fields['sendCommand'] === 'function' && 'isOpen' in fields) {
    throw refused('a client of the library node-redis (package "redis")');
  }
  if ('nodes' in fields) return readCluster(fields);
  if (Array.isArray(redis)) throw refused('an array', 'For a Cluster pass { nodes: [...] }.');
  if (!isPlain(redis)) throw refused(`an instance of ${redis.constructor?.name ?? 'an unknown class'}`);
  if ('url' in fields)
    throw refused('an object with `url`', 'ioredis knows no such option: pass the URL itself.');
  if ('socket' in fields) throw refused('options of the library node-redis (`socket`)');
  const method = CLIENT_METHODS.find((name) => typeof fields[name] === 'function');
  if (method !== undefined)
    throw refused(`an object with a client's method ${method}() that is no ioredis client`);
  checkFields(fields, 'redis');
  return { kind: 'options', options: masterOnly(redis, fields) };
}

function readUrl(url: string): string {
  if (url.trim() === '') throw refused('an empty string');
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1];
  if (scheme !== undefined && !/^rediss?$/i.test(scheme)) {
    throw refused(`the URL ${redact(url)}`, 'Its scheme must be redis: or rediss:.');
  }
  if (scheme === undefined && !isAddress(url)) {
    throw refused(
      'a text that is neither a URL nor host:port nor the path of a socket',
      'Pass redis://host:port.',
    );
  }
  checkUrl(url, 'redis');
  return url;
}

/** What ioredis takes without a scheme. Anything with an `@` is a URL that was cut: it would be taken for a name. */
function isAddress(text: string): boolean {
  if (/[\s'"@]/.test(text)) return false;
  return text.startsWith('/') || /^(localhost|[\w.-]+:\d+|\d+)$/i.test(text);
}

function readCluster(fields: Fields): Connection {
  const { nodes, options = {} } = fields;
  if (!Array.isArray(nodes) || nodes.length === 0)
    throw refused('{ nodes } that is no list of at least one node');
  if (typeof options !== 'object' || options === null)
    throw refused('{ nodes, options } whose options are no object');
  nodes.forEach((node, index) => checkFields(node, `redis.nodes[${index}]`));
  checkFields((options as Fields)['redisOptions'], 'redis.options.redisOptions');
  return { kind: 'cluster', nodes: nodes as ClusterOption['nodes'], options: masterOnly(options, options) }; // ioredis judges the nodes
}

/** By structure: `instanceof` fails as soon as two copies of ioredis are installed. */
function isIoredis(fields: Fields): boolean {
  return (
    ['defineCommand', 'duplicate', 'getBuffer', 'disconnect', 'on', 'off'].every(
      (name) => typeof fields[name] === 'function',
    ) &&
    typeof fields['status'] === 'string' &&
    typeof fields['options'] === 'object'
  );
}

function masterOnly<T>(connection: T, options: unknown): T {
  const { scaleReads, role } = (options ?? {}) as Fields; // options of ioredis, looked at by name
  if (scaleReads !== undefined && scaleReads !== 'master') {
    throw refused(`scaleReads: ${show(scaleReads)}`, "Reads must go to masters: leave it out, or 'master'.");
  }
  if (role === 'slave')
    throw refused("Sentinel role: 'slave'", "Reads must go to the master: leave `role` out, or 'master'.");
  return connection;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  // The root prototype of any realm: nothing above it.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function refused(received: string, advice = ACCEPTED): ConfigurationError {
  return new ConfigurationError(`redis: got ${received}. ${advice}`);
}
