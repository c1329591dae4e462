import type { ReadAnswer, SharedRead } from '../coherence/index.js';
import type { Engine } from '../flight/index.js';
import type { Request } from '../request.js';
import type { Answer } from './answers.js';

/** How calls are answered that share a read. */
interface Answering {
  hitOf(request: Request, found: ReadAnswer | undefined, readers: number): Answer | undefined;
  lead(request: Request, read: SharedRead | undefined, found: ReadAnswer | undefined): Promise<Answer>;
}

/**
 * Plain calls of one turn whose policy hands one frozen value to all: one promise is theirs, too. They count as so many hits,
 * and, where they wait for a load, as one that waits.
 */
export class Together {
  readonly value: Promise<unknown>;
  private callers = 1;

  constructor(
    private readonly engine: Engine,
    private readonly calls: Answering,
    private readonly request: Request,
    private readonly read: SharedRead,
    private readonly onRead: () => void,
  ) {
    this.value = read.answer.then((found) => this.valueOf(found));
  }

  /** Undefined: it is too late for another caller. */
  join(): Promise<unknown> | undefined {
    const { engine, read } = this;
    if (!read.isOpen || engine.events.active) return undefined;
    this.callers += 1;
    // A load that began since the first of them came is no load that began after this one.
    read.arrival = engine.arrivals.next();
    return this.value;
  }

  private valueOf(found: ReadAnswer | undefined): unknown {
    this.onRead();
    const { calls, request, read, callers } = this;
    const { counters } = this.engine;
    const others = callers - 1;
    let hit: Answer | undefined;
    try {
      hit = calls.hitOf(request, found, callers);
    } catch (error) {
      counters.outcomes.negative += others;
      throw error;
    }
    if (hit === undefined) {
      counters.misses += others;
      return calls.lead(request, read, found).then((answer) => this.countOthers(answer));
    }
    return this.countOthers(hit);
  }

  /** One of them led, or set off the refresh. */
  private countOthers({ value, outcome }: Answer): unknown {
    const ofOthers = outcome === 'loaded' ? 'joined' : outcome === 'early' ? 'fresh' : outcome;
    this.engine.counters.outcomes[ofOthers] += this.callers - 1;
    return value;
  }
}
