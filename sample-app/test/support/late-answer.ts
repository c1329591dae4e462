import { deferred } from '../../../test/support/deferred.js';
import { Database } from '../../src/database/database.js';
import type { Shop } from './shop.js';

/** While `run` runs, the query that `ask` leads to has read its rows already, and they are still on their way. */
export async function withLateAnswer<T>(
  shop: Shop,
  ask: () => Promise<T>,
  run: () => Promise<void>,
): Promise<T> {
  const read = deferred();
  const goOn = deferred();
  const database = shop.app.get(Database);
  const query = database.query.bind(database);
  const spy = jest.spyOn(database, 'query').mockImplementationOnce(async (sql, parameters) => {
    const rows = await query(sql, parameters);
    read.resolve();
    await goOn.promise;
    return rows as never; // the same rows, late
  });
  const answer = ask();
  try {
    await read.promise;
    await run();
  } finally {
    goOn.resolve();
    spy.mockRestore();
  }
  return answer;
}
