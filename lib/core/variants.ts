import type { Budget, StoreGate } from './gate/index.js';
import { withVariant, type EntryKey } from './keys/index.js';
import type { Runtime } from './ports.js';

/** Announcements are renewed this often while their variant is in use, ms: the store may have evicted one. */
const RENEW = 60_000;
/** An announcement outlives the last entry it stands for by this, ms. */
const MARGIN = 60_000;

interface Announcement {
  /** Monotonic time of the announcement. */
  readonly madeAt: number;
  /** Monotonic time until which it lasts. */
  readonly lastsUntil: number;
}

/**
 * The versions of entries that builds at work keep side by side. A build announces its own before it loads, so that an explicit
 * change by any build finds every variant there is.
 */
export class Variants {
  /** By name, then by variant. */
  private readonly announced = new Map<string, Map<string, Announcement>>();
  /** Announcements under way, which others wait for too. */
  private readonly announcing = new Map<string, Promise<void>>();
  /** Lists that this tick's changes share: not sent yet. */
  private readonly listing = new Map<string, Promise<readonly string[]>>();

  constructor(
    private readonly gate: StoreGate,
    private readonly runtime: Runtime,
  ) {}

  /** Whether it is announced for so long already. */
  covers(name: string, variant: string, lifeMs: number): boolean {
    if (variant === '') return true;
    const now = this.runtime.clock.now();
    const known = this.announced.get(name)?.get(variant);
    return known !== undefined && now - known.madeAt < RENEW && known.lastsUntil >= now + lifeMs;
  }

  /**
   * Makes sure that the variant is announced for `lifeMs` from now, within the budget, or as a write. The plain variant needs
   * none: every change reaches it.
   * @throws StoreFailure: nothing may be stored, as nobody would find it
   */
  async cover(name: string, variant: string, lifeMs: number, budget?: Budget): Promise<void> {
    if (this.covers(name, variant, lifeMs)) return;
    const id = `${variant} ${name}`;
    const running = this.announcing.get(id);
    if (running) {
      await running;
      // It may have been for a shorter life.
      if (this.covers(name, variant, lifeMs)) return;
    }
    const announced = this.announce(name, variant, lifeMs, budget).finally(() => {
      if (this.announcing.get(id) === announced) this.announcing.delete(id);
    });
    this.announcing.set(id, announced);
    await announced;
  }

  /** The variants of a name that this process keeps entries of, `variant` among them. */
  ownOf(name: string, variant: string): readonly string[] {
    const own = this.announced.get(name);
    return own === undefined ? [variant] : [...new Set([variant, '', ...own.keys()])];
  }

  /** The key itself and the same key of every other variant, the plain one included. @throws StoreFailure */
  async othersOf(key: EntryKey, name: string): Promise<readonly EntryKey[]> {
    const announced = await this.list(name);
    const others = new Set(['', ...announced]);
    others.delete(key.variant);
    return [...others].map((variant) => withVariant(key, variant));
  }

  private async announce(name: string, variant: string, lifeMs: number, budget?: Budget): Promise<void> {
    const { gate } = this;
    const madeAt = this.runtime.clock.now();
    const announce = (): Promise<void> => gate.store.announce(name, variant, 2 * lifeMs + MARGIN);
    const what = 'announce a version';
    const target = { versionsOf: name };
    await (budget ? gate.spend(budget, what, target, announce) : gate.write(what, target, announce));
    const own = this.announced.get(name) ?? new Map<string, Announcement>();
    this.announced.set(name, own.set(variant, { madeAt, lastsUntil: madeAt + lifeMs + MARGIN }));
  }

  private list(name: string): Promise<readonly string[]> {
    const shared = this.listing.get(name);
    if (shared) return shared;
    const { timers } = this.runtime;
    const listed = new Promise<void>((resolve) => timers.endOfTick(resolve)).then(() => {
      this.listing.delete(name);
      return this.gate.change('list versions', { versionsOf: name }, () => this.gate.store.variants(name));
    });
    this.listing.set(name, listed);
    return listed;
  }
}
