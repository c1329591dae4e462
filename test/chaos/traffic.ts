import { machineNow } from '../history/clock.js';
import { Random, seedOf } from '../history/random.js';
import type { Subject, SubjectSetup } from './subject.js';
import { CHANGES, GROUPS, keyOf, ownerOf, RATE, shelfOf, type GroupName } from './terms.js';

const TICK = 10;
/** A process that stood still does not make up for more than this, ms. */
const LONGEST_TICK = 100;

const WEIGHTS = Object.fromEntries(
  Object.entries(GROUPS).map(([name, { weight }]) => [name, weight]),
) as Record<GroupName, number>; // the keys of GROUPS
const CHANGED: readonly GroupName[] = ['hot', 'stale', 'brief'];

/** An open loop: so many calls a second, however slowly they are answered. */
export class Traffic {
  private readonly random: Random;
  private readonly changing = new Set<string>();
  private readonly process: number;
  private timer?: NodeJS.Timeout;
  private last = machineNow();

  constructor(
    private readonly subject: Subject,
    setup: SubjectSetup,
  ) {
    this.random = new Random(seedOf(setup.seed, setup.process));
    this.process = setup.process;
  }

  start(): void {
    this.last = machineNow();
    this.timer = setInterval(() => this.tick(), TICK);
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Changes under way. */
  get unfinished(): number {
    return this.changing.size;
  }

  private tick(): void {
    const now = machineNow();
    let left = (Math.min(now - this.last, LONGEST_TICK) / 1_000) * RATE;
    this.last = now;
    for (left -= this.random.next(); left > 0; left -= 1) {
      if (this.random.chance(CHANGES)) this.change();
      else void this.subject.call(this.anyKey());
    }
  }

  private anyKey(): string {
    const group = this.random.weighted(WEIGHTS);
    return keyOf(group, Math.floor(this.random.next() * GROUPS[group].keys));
  }

  private change(): void {
    const { random, process } = this;
    if (random.chance(0.2)) return this.once('tag', shelfOf(process));
    const group = random.pick(CHANGED);
    const numbers = Array.from({ length: GROUPS[group].keys }, (_, number) => number);
    const own = numbers.filter((number) => ownerOf(number) === process);
    this.once(random.chance(0.25) ? 'set' : 'key', [keyOf(group, random.pick(own))]);
  }

  /** One change of a key at a time: two would be a race of the application's own. */
  private once(by: 'tag' | 'set' | 'key', [first, ...others]: readonly string[]): void {
    if (first === undefined || this.changing.has(first)) return;
    this.changing.add(first);
    void this.subject.change(by, [first, ...others]).finally(() => this.changing.delete(first));
  }
}
