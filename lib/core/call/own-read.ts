import type { StoredEntry } from '../entry/index.js';
import type { Engine } from '../flight/index.js';
import type { ReadAnswer } from '../coherence/index.js';
import type { Budget } from '../gate/index.js';
import { nothing } from '../nothing.js';
import type { Request } from '../request.js';
import { isLarge, judge, readEntry, turnToRead, windowsOf, type Answer } from './answers.js';

/** What one call has read for itself: only that may stand in for a load. */
export class OwnRead {
  private answer: ReadAnswer | undefined;
  private hasRead = false;

  constructor(
    private readonly engine: Engine,
    private readonly request: Request,
    private readonly budget: Budget,
  ) {}

  get entry(): StoredEntry | undefined {
    return this.answer?.entry;
  }

  /** The id of what may not be served at `now`, and must not count as a hit of the next question. */
  rejectedId(now: number): string | undefined {
    const { engine, request, entry } = this;
    if (!entry || request.call.fresh) return this.answer?.foundId ?? '';
    const state = judge(engine, entry, request, now);
    return state === 'fresh' || state === 'stale' || entry.softened ? entry.header.id : undefined;
  }

  /** Takes the copy that this process keeps, if it surely counts. */
  readNear(): boolean {
    const { engine, request } = this;
    const entry = request.call.fresh ? undefined : engine.reads.near(request);
    if (entry === undefined) return false;
    this.hasRead = true;
    this.answer = { entry, foundId: entry.header.id };
    return true;
  }

  /** What was read along with others; undefined: the store told nothing. */
  take(answer: ReadAnswer | undefined): void {
    this.hasRead = true;
    this.answer = answer;
  }

  /** Asks the store. One that fails has told nothing. */
  async read(): Promise<void> {
    const { engine, request, budget } = this;
    this.hasRead = true;
    this.answer = await engine.reads.read(request, budget).catch(nothing);
  }

  /** The turn to wait for before a large entry is served as it is, by a call that came at `since`. */
  turnToHit(since: number): Promise<void> | undefined {
    const { engine, request, entry } = this;
    if (!entry || request.call.fresh || !isLarge(entry.payload, request)) return undefined;
    const state = judge(engine, entry, request);
    return state === 'fresh' || state === 'stale'
      ? turnToRead(engine, entry.payload, request, since)
      : undefined;
  }

  /** Whether an old value is at hand that may be served instead of an error. */
  holdsStale(): boolean {
    const { entry } = this;
    if (!entry || this.request.call.fresh || entry.header.kind !== 'value') return false;
    return judge(this.engine, entry, this.request) !== 'expired';
  }

  /** That value. Reads now, if the call only joined so far. */
  async staleAnswer(): Promise<Answer | undefined> {
    const { engine, request } = this;
    if (!allowsStale(request)) return undefined;
    if (!this.hasRead) await this.read();
    if (!this.entry || !this.holdsStale()) return undefined;
    const turn = turnToRead(engine, this.entry.payload, request);
    if (turn) await turn;
    const outcome = judge(engine, this.entry, request) === 'fresh' ? 'fresh' : 'stale';
    const reading = readEntry(engine, this.entry, request, outcome);
    return reading && 'answer' in reading ? reading.answer : undefined;
  }
}

/** Whether any old value would do for this call. */
export function allowsStale(request: Request): boolean {
  const { stale, staleIfError } = windowsOf(request);
  return Math.max(stale, staleIfError) > 0;
}
