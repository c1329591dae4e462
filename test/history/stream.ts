import { setTimeout as delay } from 'node:timers/promises';
import { tagsOf, type Catalogue } from './catalogue.js';
import type { LoadPlan } from './loads.js';
import { Random } from './random.js';
import type { CallOrder, ChangeOrder } from './orders.js';
import type { Subject } from './subject.js';

/** What a random client does, by weight. */
const DOINGS = { load: 56, burst: 10, read: 8, fresh: 4, impatient: 8, change: 14 } as const;
const CHANGES = { invalidate: 50, set: 16, expire: 10, invalidateTags: 16, expireTags: 6, clear: 2 } as const;
const THINK = 6;

/** One client of one process: it draws what it does from its seed, one thing after the other. */
export class Client {
  private readonly random: Random;
  private readonly keys: readonly string[];
  private readonly tags: readonly string[];

  constructor(
    private readonly subject: Subject,
    catalogue: Catalogue,
    seed: number,
  ) {
    this.random = new Random(seed);
    this.keys = Object.keys(catalogue);
    this.tags = [...new Set(Object.values(catalogue).flatMap(tagsOf))];
  }

  /** Until told to stop, and the last thing it did is done. */
  async run(going: () => boolean): Promise<void> {
    while (going()) {
      await this.act();
      await delay(this.random.around(THINK));
    }
  }

  private async act(): Promise<void> {
    const { random, subject } = this;
    const doing = random.weighted(DOINGS);
    const key = random.pick(this.keys);
    if (doing === 'change') return void (await subject.change(this.drawChange(key)));
    const order: CallOrder = {
      key,
      call: doing === 'read' || doing === 'fresh' ? doing : 'load',
      plan: this.drawLoad(),
      ...(doing === 'impatient' && { abortAfter: random.between(0, 40) }),
    };
    if (doing !== 'burst') return void (await subject.call(order));
    await Promise.all([1, 2, 3].map(() => subject.call({ ...order, plan: this.drawLoad() })));
  }

  private drawNested(): CallOrder {
    return { key: this.random.pick(this.keys), call: 'load', plan: this.drawLoad(false) };
  }

  private drawLoad(deep = true): LoadPlan {
    const { random } = this;
    const nested = deep && random.chance(0.05) && this.drawNested();
    const fate = random.weighted({ well: 86, slow: 3, fails: 7, hangs: 2, deaf: 2 });
    // A slow load outlasts maxLag, and the lease many times renewed.
    const whole = fate === 'slow' ? random.between(150, 400) : random.between(5, 60);
    const before = whole * random.next();
    return {
      before,
      after: whole - before,
      fails: fate === 'fails',
      hangs: fate === 'hangs' || fate === 'deaf',
      deaf: fate === 'deaf',
      ...(nested && { nested }),
    };
  }

  private drawChange(key: string): ChangeOrder {
    const { random, tags } = this;
    const change = random.weighted(CHANGES);
    if (tags.length === 0) return { change: change === 'set' ? 'set' : 'invalidate', keys: [key] };
    const more = {
      ...(random.chance(0.1) && { deferred: true }),
      ...(random.chance(0.05) && { holdOff: random.between(20, 200) }),
    };
    if (change === 'clear') return { change, ...more };
    if (change === 'invalidateTags' || change === 'expireTags')
      return { change, tags: [random.pick(tags)], ...more };
    return { change, keys: [key], ...more };
  }
}
