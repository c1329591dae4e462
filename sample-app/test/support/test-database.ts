import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import type { DatabaseServer } from '../../src/database/database-server.js';

/** A new, empty database on the server of the global setup, and a connection to it beside the app's. */
export class TestDatabase implements DatabaseServer {
  private constructor(
    readonly url: string,
    readonly description: string,
    private readonly client: Client,
  ) {}

  static async create(): Promise<TestDatabase> {
    const name = `shop_test_${randomBytes(6).toString('hex')}`;
    await onServer(`CREATE DATABASE ${name}`);
    const url = new URL(serverUrl());
    url.pathname = name;
    const client = new Client({ connectionString: url.href });
    await client.connect();
    return new TestDatabase(url.href, name, client);
  }

  /** What another program does to the data. */
  async run(sql: string): Promise<void> {
    await this.client.query(sql);
  }

  /** As long as `run` runs, no query of this table gets an answer: the test decides how slow the database is. */
  async whileLocked(table: string, run: () => Promise<void>): Promise<void> {
    await this.client.query(`BEGIN; LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`);
    try {
      await run();
    } finally {
      await this.client.query('COMMIT');
    }
  }

  async drop(): Promise<void> {
    await this.client.end();
    await onServer(`DROP DATABASE ${this.description} WITH (FORCE)`);
  }
}

async function onServer(sql: string): Promise<void> {
  const client = new Client({ connectionString: serverUrl() });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function serverUrl(): string {
  const url = process.env['DATABASE_URL'];
  if (!url) throw new Error('DATABASE_URL is not set: the global setup did not run');
  return url;
}
