import type { StoredEntry } from '../entry/index.js';
import type { Request } from '../request.js';
import type { Engine } from './engine.js';
import type { Landing } from './flight.js';
import { restoreError } from './restore-error.js';

/** What an entry of the store is to those who waited for it; undefined when it can't be read. */
export function landingOfEntry(engine: Engine, entry: StoredEntry, request: Request): Landing | undefined {
  const { header, payload } = entry;
  if (header.kind !== 'error')
    return {
      kind: 'value',
      payload,
      how: 'waited',
      id: header.id,
      bornAt: header.bornAt,
      softAt: header.softAt,
    };
  const error = restoreError(engine, entry, request);
  return error && { kind: 'error', error, nature: 'answer' };
}
