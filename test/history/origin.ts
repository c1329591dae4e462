import { Redis } from 'ioredis';

/** The rows behind the cache: versions that only grow. They lie on a server of their own, which outlives every process. */
export class Origin {
  private readonly client: Redis;

  constructor(port: number) {
    this.client = new Redis({ port, host: '127.0.0.1', disconnectTimeout: 50 });
    this.client.on('error', () => undefined);
  }

  /** The row as it is now. */
  async read(key: string): Promise<number> {
    return Number(await this.client.get(`row:${key}`));
  }

  /** Commits a new version of the row. */
  async write(key: string): Promise<number> {
    return this.client.incr(`row:${key}`);
  }

  close(): void {
    this.client.disconnect();
  }
}

/** The error of a load whose origin was ill. */
export class OriginError extends Error {
  constructor(load: string) {
    super(`the origin failed ${load}`);
    this.name = 'OriginError';
  }
}
