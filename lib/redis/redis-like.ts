/**
 * What is used of an ioredis client, described by structure: two copies or two majors of ioredis in one node_modules are
 * no obstacle, and no declaration of this package needs ioredis's types.
 */
export interface RedisLike {
  readonly isCluster?: boolean;
  readonly status: string;
  readonly options: object;
  getBuffer(key: string): Promise<Buffer | null>;
  set(key: string, value: Buffer, unit: 'PX', ms: number): Promise<unknown>;
  unlink(...keys: string[]): Promise<number>;
  publish(channel: string, message: string): Promise<number>;
  call(command: string, ...args: string[]): Promise<unknown>;
  defineCommand(name: string, definition: { lua: string; numberOfKeys: number }): void;
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
  connect(): Promise<void>;
  quit(): Promise<unknown>;
  disconnect(): void;
}

/** A client of one server, also one found through Sentinel. */
export interface SingleLike extends RedisLike {
  subscribe(channel: string): Promise<unknown>;
  duplicate(override: object): SingleLike;
}

export interface ClusterLike extends RedisLike {
  nodes(role: 'master'): SingleLike[];
}

export type ClientLike = SingleLike | ClusterLike;

export function isCluster(client: ClientLike): client is ClusterLike {
  return client.isCluster === true;
}

/** One option of a client by name; their types differ between majors of ioredis. */
export function clientOption(client: RedisLike, name: string): unknown {
  return (client.options as Readonly<Record<string, unknown>>)[name]; // read-only look at a foreign options object
}
