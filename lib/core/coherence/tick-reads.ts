import type { StoredEntry } from '../entry/index.js';
import type { Fill, NearCache } from '../near/index.js';
import type { EntryOf, ReadAnswer, Vetting } from './vetting.js';
import { placeOf, type EntryKey } from '../keys/index.js';
import type { Runtime } from '../ports.js';
import type { Budget, StoreGate } from '../gate/store-gate.js';
import { nothing } from '../nothing.js';

/** What is read at once at most: one late reply must not keep many waiting. */
const MOST_KEYS = 100;
const MOST_BYTES = 256 * 1024;
/** What is so big is read for itself; so many are known. */
const BIG = 32 * 1024;
const MOST_BIG = 1_000;

type Found = (answer: ReadAnswer | Promise<ReadAnswer>) => void;
type Failed = (error: unknown) => void;

/** A read that all who ask for its key in this turn share. */
export interface SharedRead {
  /** Undefined: the store told nothing. */
  readonly answer: Promise<ReadAnswer | undefined>;
  readonly budget: Budget;
  /** When the first of them asked, monotonic, ms. */
  readonly since: number;
  /** When the last of them came, by the arrival clock: for whoever asks to note. */
  arrival: number;
  /** Whether it may still be shared: it has not left, and nothing was invalidated here meanwhile. */
  isOpen: boolean;
}

/** A read that has not left yet, and who waits for it. */
interface Gathered {
  readonly whose: EntryOf;
  readonly budget: Budget;
  readonly listeners: { readonly found: Found; readonly failed: Failed }[];
  shared?: SharedRead;
}

/** Nobody may share it any more. */
function close(gathered: Gathered | undefined): void {
  if (gathered?.shared !== undefined) gathered.shared.isOpen = false;
}

/** A read that has left. */
interface Leaving {
  readonly budget: Budget;
  readonly take: (bytes: Buffer | null) => void;
  readonly fail: Failed;
}

/**
 * Reads of one key in one turn of the event loop share one command, and their vetted answer; those of many keys leave
 * together, in one command where the store can. A read may be shared only until it is written to the socket: whoever joined it
 * later could get an answer older than a write already acknowledged to it.
 */
export class TickReads {
  private gathering = new Map<string, Gathered>();
  /** What is to be sent at the end of the turn. */
  private waiting: Gathered[] = [];
  /** Of the entries read lately, bytes: how many may share a command. */
  private usualSize = 0;
  /** Where big ones were seen, the latest last. */
  private readonly big = new Set<string>();

  constructor(
    private readonly gate: StoreGate,
    private readonly vetting: Vetting,
    private readonly runtime: Runtime,
    /** Undefined: this process keeps no copies. */
    private readonly copies: NearCache | undefined,
  ) {}

  /** Whether there may be a copy of it here. */
  mayBeNear({ policy }: EntryOf): boolean {
    return this.copies !== undefined && this.copies.lifeOf(policy?.l1) > 0;
  }

  /** A copy that this process keeps, where it surely counts. No promise: most hits end here. */
  near(whose: EntryOf, now = this.runtime.clock.now()): StoredEntry | undefined {
    const { copies } = this;
    if (copies === undefined) return undefined;
    const life = copies.lifeOf(whose.policy?.l1);
    const entry = life <= 0 ? undefined : copies.find(placeOf(whose.key), now, life);
    if (entry === undefined || !this.vetting.stands(entry, whose, now)) return undefined;
    copies.hit();
    return entry;
  }

  /** @throws StoreFailure */
  read(whose: EntryOf, budget: Budget): Promise<ReadAnswer> {
    const { listeners } = this.gathered(whose, budget);
    return new Promise((found, failed) => listeners.push({ found, failed }));
  }

  /** The same with one promise for all who ask for the key in this turn: every hit comes this way. */
  readShared(whose: EntryOf): SharedRead {
    const there = this.gathered(whose);
    return (there.shared ??= {
      answer: new Promise((resolve) => {
        const found = (answer: ReadAnswer | Promise<ReadAnswer>): void =>
          resolve(answer instanceof Promise ? answer.catch(nothing) : answer);
        there.listeners.push({ found, failed: () => resolve(undefined) });
      }),
      budget: there.budget,
      since: this.runtime.clock.now(),
      arrival: 0,
      isOpen: true,
    });
  }

  /** Reads for itself alone, now. @throws StoreFailure */
  readAlone(whose: EntryOf, budget: Budget): Promise<ReadAnswer> {
    return new Promise((found, failed) => this.readNow({ whose, budget, listeners: [{ found, failed }] }));
  }

  /** Judges bytes that were read otherwise. @throws StoreFailure */
  async vet(bytes: Buffer | null, whose: EntryOf, budget: Budget): Promise<ReadAnswer> {
    await this.vetting.prepare();
    return this.vetting.vet(bytes, whose, budget);
  }

  /** The key was invalidated here: nobody may join a read begun before. */
  detach(key: EntryKey): void {
    const place = placeOf(key);
    close(this.gathering.get(place));
    this.gathering.delete(place);
    this.forget(key);
  }

  detachAll(): void {
    for (const each of this.gathering.values()) close(each);
    this.gathering = new Map();
    this.copies?.dropAll();
  }

  /** The store has a newer entry than the copy kept here. */
  forget(key: EntryKey): void {
    this.copies?.drop(placeOf(key));
  }

  /** The read of this turn that asks for it. */
  private gathered(whose: EntryOf, budget?: Budget): Gathered {
    const place = placeOf(whose.key);
    const there = this.gathering.get(place);
    if (there) return there;
    const gathered: Gathered = { whose, budget: budget ?? this.gate.budget(), listeners: [] };
    this.gathering.set(place, gathered);
    this.waiting.push(gathered);
    if (this.waiting.length === 1) this.awaitTurn();
    return gathered;
  }

  private awaitTurn(): void {
    const { timers } = this.runtime;
    const send = (): void => {
      const leaving = this.waiting;
      this.waiting = [];
      this.gathering = new Map();
      for (const each of leaving) close(each);
      this.send(leaving);
    };
    // What is in memory needs no company on its way.
    if (this.gate.store.kind === 'redis') timers.endOfTurn(send);
    else timers.endOfTick(send);
  }

  private send(leaving: readonly Gathered[]): void {
    const { gate } = this;
    const most = gate.canReadMany ? Math.min(MOST_KEYS, Math.floor(MOST_BYTES / (this.usualSize + 1))) : 1;
    // A budget that others have used already is for nobody else.
    const whole = gate.budget().left;
    const isTogether = ({ budget, whose }: Gathered): boolean =>
      most > 1 && budget.left === whole && !this.big.has(placeOf(whose.key));
    const together = leaving.filter(isTogether);
    if (together.length < 2) return leaving.forEach((each) => this.readNow(each));
    // Told apart before anything is sent: what fails at once uses its budget up.
    const alone = leaving.filter((each) => !isTogether(each));
    for (let at = 0; at < together.length; at += most) this.readTogether(together.slice(at, at + most));
    // The big ones last: nobody waits behind them.
    for (const each of alone) this.readNow(each);
  }

  private readTogether(those: readonly Gathered[]): void {
    const [first, ...others] = those.map(({ whose }) => whose.key);
    if (first === undefined) return;
    const leaving = those.map((each) => this.leave(each));
    const budget = this.gate.budget();
    const spend = (): void => {
      for (const each of leaving) each.budget.left = budget.left;
    };
    const found = (all: readonly (Buffer | null)[]): void => {
      spend();
      leaving.forEach(({ take }, i) => take(all[i] ?? null));
    };
    const failed = (error: unknown): void => {
      spend();
      for (const { fail } of leaving) fail(error);
    };
    const seen = (all: readonly (Buffer | null)[]): void =>
      all.forEach((bytes, i) => this.learnSize(those[i]?.whose.key, bytes));
    this.gate.readMany([first, ...others], budget, found, failed, seen);
  }

  private readNow(gathered: Gathered): void {
    const { budget, take, fail } = this.leave(gathered);
    this.gate.read(gathered.whose.key, budget, take, fail);
  }

  /** Before it is sent. */
  private leave({ whose, budget, listeners }: Gathered): Leaving {
    const prepared = this.vetting.prepare();
    const end = this.filling(whose);
    const fail = (error: unknown): void => {
      end?.(undefined);
      for (const { failed } of listeners) failed(error);
    };
    const judge = (bytes: Buffer | null): void => {
      let answer: ReadAnswer | Promise<ReadAnswer>;
      try {
        answer = this.vetting.vet(bytes, whose, budget);
      } catch (error) {
        return fail(error);
      }
      end?.(answer);
      for (const { found } of listeners) found(answer);
    };
    const take = (bytes: Buffer | null): void => {
      this.learnSize(whose.key, bytes);
      // It never rejects.
      if (prepared) void prepared.then(() => judge(bytes));
      else judge(bytes);
    };
    return { budget, take, fail };
  }

  private learnSize(key: EntryKey | undefined, bytes: Buffer | null): void {
    if (key === undefined || bytes === null) return;
    this.usualSize += (bytes.length - this.usualSize) / 16;
    if (bytes.length < BIG && this.big.size === 0) return;
    const place = placeOf(key);
    this.big.delete(place);
    if (bytes.length >= BIG) this.big.add(place);
    if (this.big.size > MOST_BIG) for (const first of this.big.keys()) return void this.big.delete(first);
  }

  /** Before the read is sent: whoever hears of a change meanwhile keeps it from becoming a copy. Undefined: none is kept. */
  private filling(
    whose: EntryOf,
  ): ((answer: ReadAnswer | Promise<ReadAnswer> | undefined) => void) | undefined {
    const { copies } = this;
    const ttl = copies?.lifeOf(whose.policy?.l1) ?? 0;
    if (copies === undefined || ttl <= 0) return undefined;
    const place = placeOf(whose.key);
    const fill: Fill = copies.begin(place);
    const end = (answer: ReadAnswer | undefined): void => copies.end(place, fill, answer?.entry, ttl);
    return (answer) => {
      if (answer === undefined || 'foundId' in answer) end(answer);
      else answer.then(end, () => end(undefined));
    };
  }
}
