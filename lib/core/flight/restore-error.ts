import type { StoredEntry } from '../entry/index.js';
import { isPackedError } from '../publish/index.js';
import type { Request } from '../request.js';
import type { Engine } from './engine.js';

/** A stored negative error, ready to be thrown again; undefined when its bytes are none. */
export function restoreError(engine: Engine, entry: StoredEntry, request: Request): Error | undefined {
  try {
    const packed = entry.payload.read({ types: undefined, serializer: undefined, shared: false });
    if (!isPackedError(packed)) return undefined;
    return engine.errors.unpack(packed, request.policy.errors, request.policy.where);
  } catch {
    return undefined;
  }
}
