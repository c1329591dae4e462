// Jest loads this file without the module mapper that the specs have: hence no .js.
import { startEmbeddedPostgres } from '../../src/database/embedded-postgres';

/** One PostgreSQL for all specs, unless DATABASE_URL names one. */
export default async function globalSetup(): Promise<void> {
  if (process.env['DATABASE_URL']) return;
  const server = await startEmbeddedPostgres();
  process.env['DATABASE_URL'] = server.url;
  globalThis.embeddedPostgres = server;
}
