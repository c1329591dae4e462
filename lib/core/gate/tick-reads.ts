import type { EntryKey } from '../keys/index.js';
import type { Runtime } from '../ports.js';
import { parseEntry, rejectedIdOf, type StoredEntry } from '../entry/index.js';
import type { Budget, StoreGate } from './store-gate.js';

/** One answer of the store about a key. */
export interface ReadAnswer {
  readonly entry: StoredEntry | undefined;
  /** What exactly was found, should it prove unusable. */
  readonly foundId: string;
}

/**
 * Reads of one key in one tick share one command, and their parsed answer. A read may be shared only until it is written
 * to the socket: whoever joined it later could get an answer older than a write already acknowledged to it.
 */
export class TickReads {
  private gathering = new Map<string, Promise<ReadAnswer>>();

  constructor(
    private readonly gate: StoreGate,
    private readonly runtime: Runtime,
  ) {}

  /** @throws StoreFailure */
  read(key: EntryKey, budget: Budget): Promise<ReadAnswer> {
    const shared = this.gathering.get(key.id);
    if (shared) return shared;
    const answer = this.send(key, budget);
    if (this.gathering.size === 0) {
      const gathered = this.gathering;
      this.runtime.timers.endOfTick(() => {
        if (this.gathering === gathered) this.gathering = new Map();
      });
    }
    this.gathering.set(key.id, answer);
    return answer;
  }

  /** The key was invalidated here: nobody may join a read begun before. */
  detach(key: EntryKey): void {
    this.gathering.delete(key.id);
  }

  private async send(key: EntryKey, budget: Budget): Promise<ReadAnswer> {
    await new Promise<void>((resolve) => this.runtime.timers.endOfTick(resolve));
    const bytes = await this.gate.read(key, budget);
    return { entry: parseEntry(bytes, key), foundId: rejectedIdOf(bytes) };
  }
}
