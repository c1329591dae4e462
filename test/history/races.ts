import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Catalogue, Terms } from './catalogue.js';
import { HistoryFleet } from './fleet.js';
import type { LoadPlan } from './loads.js';
import type { ChangeOrder } from './orders.js';

const KINDS = ['invalidate', 'invalidateTags', 'clear'] as const;
export type RaceKind = (typeof KINDS)[number];

const MAX_LAG = 150;
const SIDE_BY_SIDE = 10;
const TERMS: Terms = {
  ttl: 60_000,
  stale: 0,
  staleIfError: 0,
  lease: 10_000,
  loadTimeout: 20_000,
  waitTimeout: 20_000,
};
const QUICK: LoadPlan = { before: 0, after: 0 };
const HELD: LoadPlan = { ...QUICK, held: true };
/** The row as it was before the change, in an entry's bytes. */
const OLD_ROW = '"version":0';

/** What came of the repetitions of one kind. */
export interface RaceResult {
  readonly repetitions: number;
  /**
   * Repetitions after which every later read, in both processes, gave the new row; and, after an invalidation of the key,
   * the store never held the old one.
   */
  readonly won: number;
  readonly reads: number;
  /** How often the store was looked at after the change, and held the old row. */
  readonly looks: number;
  readonly oldInStore: number;
}

interface Later {
  readonly isNew: boolean[];
  looks: number;
  oldInStore: number;
}

const keyOf = (kind: RaceKind, number: number): string => `${kind}-${number}`;
const tagOf = (number: number): string => `tag-${number}`;

function catalogueOf(count: number): Catalogue {
  const numbers = Array.from({ length: count }, (_, number) => number);
  const entries = KINDS.flatMap((kind) =>
    numbers.map((number): [string, Terms] => [
      keyOf(kind, number),
      kind === 'invalidateTags' ? { ...TERMS, tags: [tagOf(number)] } : TERMS,
    ]),
  );
  return Object.fromEntries([...entries, ['control', TERMS]]);
}

function changeOf(kind: RaceKind, number: number): ChangeOrder {
  const rows = [keyOf(kind, number)];
  if (kind === 'invalidate') return { change: kind, keys: rows };
  return kind === 'clear' ? { change: kind, rows } : { change: kind, tags: [tagOf(number)], rows };
}

function isWon(kind: RaceKind, { isNew, oldInStore }: Later): boolean {
  return isNew.length > 0 && isNew.every(Boolean) && (kind !== 'invalidate' || oldInStore === 0);
}

/**
 * A load has read the old row and pauses; another process commits a new one and says so to the cache; the load goes on.
 * Two processes, any number of repetitions.
 */
export class Races {
  private constructor(
    private readonly fleet: HistoryFleet,
    private readonly raw: Redis,
    private readonly repetitions: number,
  ) {}

  static async start(repetitions: number): Promise<Races> {
    const fleet = await HistoryFleet.start({
      processes: 2,
      proxied: [],
      catalogue: catalogueOf(repetitions),
      // Noise of a busy machine must not count as "Redis is down".
      options: { redisTimeout: 3_000, redisWriteTimeout: 6_000, coherence: { maxLag: MAX_LAG } },
    });
    return new Races(fleet, fleet.redis.client(), repetitions);
  }

  stop(): Promise<void> {
    return this.fleet.stop();
  }

  /** Whether an old row would be seen in the store, were it there. */
  async control(): Promise<boolean> {
    await this.fleet.call(0, { key: 'control', call: 'load', plan: QUICK });
    const bytes = await this.raw.getBuffer(await this.fleet.dataKey('control'));
    return bytes?.includes(OLD_ROW) === true;
  }

  async run(kind: RaceKind): Promise<RaceResult> {
    const all: Later[] = [];
    for (let first = 0; first < this.repetitions; first += SIDE_BY_SIDE) {
      const count = Math.min(SIDE_BY_SIDE, this.repetitions - first);
      const batch = Array.from({ length: count }, (_, index) => this.race(kind, first + index));
      all.push(...(await Promise.all(batch)));
    }
    return {
      repetitions: all.length,
      won: all.filter((later) => isWon(kind, later)).length,
      reads: all.reduce((sum, { isNew }) => sum + isNew.length, 0),
      looks: all.reduce((sum, { looks }) => sum + looks, 0),
      oldInStore: all.reduce((sum, { oldInStore }) => sum + oldInStore, 0),
    };
  }

  private async race(kind: RaceKind, number: number): Promise<Later> {
    const { fleet } = this;
    const key = keyOf(kind, number);
    const later: Later = { isNew: [], looks: 0, oldInStore: 0 };
    const name = await fleet.dataKey(key);
    const look = async (): Promise<void> => {
      const bytes = await this.raw.getBuffer(name);
      later.looks += 1;
      if (bytes?.includes(OLD_ROW) === true) later.oldInStore += 1;
    };
    const old = fleet.call(0, { key, call: 'load', plan: HELD });
    await fleet.holding(0, key);
    await fleet.change(1, changeOf(kind, number));
    const lag = delay(kind === 'invalidate' ? 0 : MAX_LAG + 1);
    // In every other repetition the load pauses until the change must be known everywhere, and callers come meanwhile.
    const joins = number % 2 === 1;
    if (joins) await lag;
    const during = joins ? this.read(key, later) : undefined;
    await look();
    await fleet.letGo(0, key);
    await Promise.all([old, during, lag]);
    await this.read(key, later);
    await look();
    await this.read(key, later);
    await look();
    return later;
  }

  /** In both processes, from now on. */
  private async read(key: string, later: Later): Promise<void> {
    const replies = await Promise.all(
      [0, 1].map((index) => this.fleet.call(index, { key, call: 'load', plan: QUICK })),
    );
    later.isNew.push(...replies.map(({ value }) => value !== undefined && value.version > 0));
  }
}
