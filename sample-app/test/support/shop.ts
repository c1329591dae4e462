import type { AddressInfo, Server } from 'node:net';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import request from 'supertest';
import { AppModule } from '../../src/app.module.js';
import type { DatabaseServer } from '../../src/database/database-server.js';
import { Database } from '../../src/database/database.js';

export interface ShopSettings {
  readonly database: DatabaseServer;
  readonly redisUrl?: string;
}

/** The whole app, listening on a free port. */
export class Shop {
  /** How many requests have reached the app. */
  arrived = 0;

  private constructor(
    readonly app: INestApplication,
    private readonly url: string,
  ) {}

  static async open({ database: { url, description }, redisUrl }: ShopSettings): Promise<Shop> {
    // Without `stop`: the database belongs to the test, and may serve a second shop.
    const database = { server: { url, description }, orders: 5_000 };
    // A busy machine is no failure: here Redis may take its time.
    const options =
      redisUrl === undefined ? { database } : { database, redisUrl, redisTimeout: '5s' as const };
    const module = await Test.createTestingModule({ imports: [AppModule.forRoot(options)] }).compile();
    const app = module.createNestApplication({ logger: false });
    await app.listen(0, '127.0.0.1');
    const server: Server = app.getHttpServer();
    // A server that listens on TCP has an address of this type.
    const { port } = server.address() as AddressInfo;
    const shop = new Shop(app, `http://127.0.0.1:${port}`);
    server.on('request', () => shop.arrived++);
    return shop;
  }

  get(path: string): request.Test {
    return request(this.url).get(path);
  }

  post(path: string, body: object): request.Test {
    return request(this.url).post(path).send(body);
  }

  patch(path: string, body: object): request.Test {
    return request(this.url).patch(path).send(body);
  }

  /** All at once. */
  async getTimes(times: number, path: string): Promise<request.Response[]> {
    return Promise.all(Array.from({ length: times }, async () => this.get(path)));
  }

  /** How many queries have reached the database. */
  get queries(): number {
    return this.app.get(Database).queries;
  }

  async close(): Promise<void> {
    await this.app.close();
  }
}
