/**
 * What is used of an ioredis client, described by structure: two copies or two majors of ioredis in one node_modules are
 * no obstacle, and no declaration of this package needs ioredis's types.
 */
export interface RedisLike {
  readonly isCluster?: boolean;
  readonly status: string;
  readonly options: object;
  getBuffer(key: string): Promise<Buffer | null>;
  mgetBuffer(...keys: string[]): Promise<(Buffer | null)[]>;
  set(key: string, value: Buffer, unit: 'PX', ms: number): Promise<unknown>;
  unlink(...keys: string[]): Promise<number>;
  publish(channel: string, message: string): Promise<number>;
  call(command: string, ...args: string[]): Promise<unknown>;
  defineCommand(name: string, definition: { lua: string; numberOfKeys: number }): void;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
  connect(): Promise<void>;
  quit(): Promise<unknown>;
  disconnect(reconnect?: boolean): void;
}

/** What is used of a socket. */
export interface Corkable {
  cork(): void;
  uncork(): void;
}

/** A client of one server, also one found through Sentinel. */
export interface SingleLike extends RedisLike {
  /** Its socket; absent while there is none. */
  readonly stream?: Corkable | undefined;
  subscribe(channel: string): Promise<unknown>;
  ping(): Promise<unknown>;
  duplicate(override: object): SingleLike;
}

export interface ClusterLike extends RedisLike {
  nodes(role: 'master' | 'all'): SingleLike[];
  /** Which server has which slot, `host:port`, its master first. Absent before it is known. */
  readonly slots?: readonly (readonly string[] | undefined)[];
}

export type ClientLike = SingleLike | ClusterLike;

/** What NTP keeps servers within, with room. */
const CLOCK_SKEW_MS = 2000;

export function isCluster(client: ClientLike): client is ClusterLike {
  return client.isCluster === true;
}

/**
 * How far the clocks of the servers behind a client may be apart, ms: where another one answers for another slot, or after a
 * fail-over. 0 where one clock rules.
 */
export function clockSkewOf(client: ClientLike): number {
  const sentinels = clientOption(client, 'sentinels');
  const isMany = isCluster(client) || (Array.isArray(sentinels) && sentinels.length > 0);
  return isMany ? CLOCK_SKEW_MS : 0;
}

/** One option of a client by name; their types differ between majors of ioredis. */
export function clientOption(client: RedisLike, name: string): unknown {
  return (client.options as Readonly<Record<string, unknown>>)[name]; // read-only look at a foreign options object
}
