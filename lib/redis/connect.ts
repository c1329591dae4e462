import { Cluster, Redis, SentinelConnector } from 'ioredis';
import { ConfigurationError } from '../core/errors.js';
import { readConnection, type Connection } from './connection-option.js';
import { readOnlyReconnects } from './read-only-reconnects.js';
import { reasonOf } from './redact.js';
import type { ClientLike } from './redis-like.js';
import { promptConnector } from './sentinel-connector.js';

export interface Connected {
  readonly client: ClientLike;
  /** Made here: whoever asked for it must close it. */
  readonly owned: boolean;
}

/**
 * The client behind the option `redis`, not connected yet if it was made here. The only place that loads ioredis, and at
 * once: a dynamic import would fail under test runners that run CommonJS in a VM context.
 * @throws ConfigurationError
 */
export function connect(redis: unknown): Connected {
  const connection = readConnection(redis);
  if (connection.kind === 'instance') return { client: connection.client, owned: false };
  try {
    const client = build(connection);
    // Before it is used nobody listens; ioredis would print the error.
    client.on('error', () => undefined);
    return { client, owned: true };
  } catch (error) {
    throw new ConfigurationError(`redis: ioredis refused the options: ${reasonOf(error)}`);
  }
}

function build(connection: Exclude<Connection, { kind: 'instance' }>): ClientLike {
  switch (connection.kind) {
    case 'url':
      return new Redis(connection.url, { ...ownDefaults(), ...FORCED });
    case 'options':
      return new Redis({
        ...ownDefaults(),
        ...sentinelDefaults(connection),
        ...connection.options,
        ...FORCED,
      });
    case 'cluster': {
      const { nodes, options } = connection;
      const { redisOptions } = options as { redisOptions?: object }; // ioredis judges it
      return new Cluster([...nodes] as ConstructorParameters<typeof Cluster>[0], {
        slotsRefreshTimeout: 2000,
        // While a slot moves, scripts fail; the fallback should begin well before an invalidation's time is up.
        retryDelayOnTryAgain: 20,
        ...options,
        ...FORCED,
        redisOptions: { ...ownDefaults(), ...redisOptions, disconnectTimeout: FORCED_DISCONNECT_MS },
      });
    }
  }
}

const FORCED_DISCONNECT_MS = 100;

/** Whatever the application chose: it is opened by the store, queues nothing while offline, and ends promptly. */
const FORCED = {
  lazyConnect: true,
  enableOfflineQueue: false,
  disconnectTimeout: FORCED_DISCONNECT_MS,
} as const;

/**
 * Where ioredis's own defaults would wait for minutes (20 retries a command, 10 s to connect) or not notice (READONLY after
 * a fail-over). The application's options go before these.
 */
function ownDefaults() {
  return {
    connectTimeout: 2000,
    maxRetriesPerRequest: 1,
    keepAlive: 10_000,
    failoverDetector: true,
    retryStrategy: (attempt: number): number => Math.min(50 * 2 ** (attempt - 1), 1000),
    reconnectOnError: readOnlyReconnects(),
  };
}

/** A Sentinel that is frozen is passed over, and does not delay the end of the process. */
function sentinelDefaults({ options }: { readonly options: object }): object {
  const { sentinels } = options as { sentinels?: unknown }; // ioredis judges it
  if (!Array.isArray(sentinels) || sentinels.length === 0) return {};
  return {
    sentinelCommandTimeout: 1000,
    Connector: promptConnector(SentinelConnector, FORCED_DISCONNECT_MS),
  };
}
