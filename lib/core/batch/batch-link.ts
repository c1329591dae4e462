import type { Slot } from '../guard/index.js';
import type { Awaited, ChainLink, LoadContext } from '../load/index.js';

/** A load of many keys, as seen by the cached calls made inside it. */
export class BatchLink implements ChainLink {
  readonly waitsFor = new Map<Awaited, number>();
  finished = false;
  private readonly keys = new Set<string>();

  constructor(
    readonly context: LoadContext,
    readonly slot: Slot,
    readonly parent: ChainLink | undefined,
  ) {}

  loads(keyId: string): boolean {
    return this.keys.has(keyId);
  }

  join(keyId: string): void {
    this.keys.add(keyId);
  }

  /** The load of one key is over; with the last one, that of all. */
  leave(keyId: string): void {
    this.keys.delete(keyId);
    this.finished = this.keys.size === 0;
  }
}
