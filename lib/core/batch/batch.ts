import type { BatchMember, Place } from '../load/index.js';
import { BatchLoad, type BatchTerms } from './batch-load.js';

type Line = 'foreground' | 'background';
const LINES: readonly Line[] = ['foreground', 'background'];

/** The ids of one call that are loaded together: at first all, later those of one moment. Refreshes among themselves. */
export class Batch {
  private readonly gathering: Partial<Record<Line, BatchLoad>> = {};
  private held: BatchLoad[] | undefined;

  constructor(readonly terms: BatchTerms) {}

  member(id: unknown, index: number): BatchMember {
    return new Member(this, id, index);
  }

  /** The load that this id's may become part of: its call begins. */
  expected(id: unknown, line: Line): BatchLoad {
    return this.open(id, line) ?? this.begin(line);
  }

  /** The load that this id's becomes part of, and nobody knew that it would. */
  unexpected(id: unknown, line: Line): BatchLoad {
    const open = this.open(id, line);
    if (open !== undefined) return open;
    const load = this.begin(line);
    if (this.held === undefined) return load.waitForMore();
    load.expect();
    this.held.push(load);
    return load;
  }

  /** What `run` begins is loaded together: its loads wait for its end. */
  together(run: () => void): void {
    const held: BatchLoad[] = [];
    this.held = held;
    try {
      run();
    } finally {
      this.held = undefined;
      for (const load of held) load.decided();
    }
  }

  private open(id: unknown, line: Line): BatchLoad | undefined {
    const current = this.gathering[line];
    return current?.takes(id) === true ? current : undefined;
  }

  private begin(line: Line): BatchLoad {
    return (this.gathering[line] = new BatchLoad(this.terms));
  }
}

class Member implements BatchMember {
  /** Where its call is waited for. */
  private expected: ReadonlyMap<Line, BatchLoad> | undefined;

  constructor(
    private readonly batch: Batch,
    private readonly id: unknown,
    private readonly index: number,
  ) {}

  arrive(): Promise<void> | undefined {
    this.expected = new Map(LINES.map((line) => [line, this.batch.expected(this.id, line)]));
    for (const load of this.expected.values()) load.expect();
    const { reads } = this.batch.terms.pace;
    if (!reads.hasRoom) return new Promise((resolve) => reads.enter(resolve));
    reads.enter(() => undefined);
    return undefined;
  }

  settle(): void {
    const { expected } = this;
    if (expected === undefined) return;
    this.expected = undefined;
    this.batch.terms.pace.reads.leave();
    for (const load of expected.values()) load.decided();
  }

  enter(...[policy, options]: Parameters<BatchMember['enter']>): Place {
    const line = options.background ? 'background' : 'foreground';
    const load = this.expected?.get(line) ?? this.batch.unexpected(this.id, line);
    return load.enter(this.id, this.index, policy, options);
  }
}
