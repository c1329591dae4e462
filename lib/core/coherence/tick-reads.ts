import type { EntryOf, ReadAnswer, Vetting } from './vetting.js';
import { placeOf, type EntryKey } from '../keys/index.js';
import type { Runtime } from '../ports.js';
import type { Budget, StoreGate } from '../gate/store-gate.js';

/**
 * Reads of one key in one turn of the event loop share one command, and their vetted answer; those of many keys leave
 * together. A read may be shared only until it is written to the socket: whoever joined it later could get an answer older
 * than a write already acknowledged to it.
 */
export class TickReads {
  private gathering = new Map<string, Promise<ReadAnswer>>();
  /** What is to be sent at the end of the turn. */
  private waiting: (() => void)[] = [];

  constructor(
    private readonly gate: StoreGate,
    private readonly vetting: Vetting,
    private readonly runtime: Runtime,
  ) {}

  /** @throws StoreFailure */
  read(whose: EntryOf, budget: Budget): Promise<ReadAnswer> {
    const place = placeOf(whose.key);
    const shared = this.gathering.get(place);
    if (shared) return shared;
    const answer = new Promise<ReadAnswer>((resolve, reject) => {
      this.waiting.push(() => this.readNow(whose, budget, resolve, reject));
    });
    this.gathering.set(place, answer);
    if (this.waiting.length === 1) this.awaitTurn();
    return answer;
  }

  /** Reads for itself alone, now. @throws StoreFailure */
  readAlone(whose: EntryOf, budget: Budget): Promise<ReadAnswer> {
    return new Promise((resolve, reject) => this.readNow(whose, budget, resolve, reject));
  }

  /** Judges bytes that were read otherwise. @throws StoreFailure */
  async vet(bytes: Buffer | null, whose: EntryOf, budget: Budget): Promise<ReadAnswer> {
    await this.vetting.prepare();
    return this.vetting.vet(bytes, whose, budget);
  }

  /** The key was invalidated here: nobody may join a read begun before. */
  detach(key: EntryKey): void {
    this.gathering.delete(placeOf(key));
  }

  detachAll(): void {
    this.gathering = new Map();
  }

  private awaitTurn(): void {
    const { timers } = this.runtime;
    const send = (): void => {
      const leaving = this.waiting;
      this.waiting = [];
      this.gathering = new Map();
      for (const read of leaving) read();
    };
    // What is in memory needs no company on its way.
    if (this.gate.store.kind === 'redis') timers.endOfTurn(send);
    else timers.endOfTick(send);
  }

  private readNow(
    whose: EntryOf,
    budget: Budget,
    resolve: (answer: ReadAnswer | Promise<ReadAnswer>) => void,
    reject: (error: unknown) => void,
  ): void {
    const prepared = this.vetting.prepare();
    const judge = (bytes: Buffer | null): void => {
      try {
        resolve(this.vetting.vet(bytes, whose, budget));
      } catch (error) {
        reject(error);
      }
    };
    const found = (bytes: Buffer | null): void => {
      // It never rejects.
      if (prepared) void prepared.then(() => judge(bytes));
      else judge(bytes);
    };
    this.gate.read(whose.key, budget, found, reject);
  }
}
