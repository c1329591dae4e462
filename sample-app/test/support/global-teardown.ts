import type { DatabaseServer } from '../../src/database/database-server';

declare global {
  /** What the global setup started. */
  var embeddedPostgres: DatabaseServer | undefined;
}

export default async function globalTeardown(): Promise<void> {
  await globalThis.embeddedPostgres?.stop?.();
}
