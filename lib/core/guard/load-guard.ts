import { LoadRejectedError } from '../errors.js';
import type { Runtime } from '../ports.js';
import type { GuardLimits } from './limits.js';
import { Pool } from './pool.js';
import type { Slot } from './slot.js';
import { isStuck } from './stuck.js';
import type { Ticket } from './ticket.js';

/** How often it is looked whether loads of several pools wait for each other, while any could, ms. */
const LOOK_EVERY = 25;
/** When to ask again with too many callers, ms. */
const CROWD_RETRY = 1_000;

/** The load guard: what stands between the calls and their origins, one pool of slots for each. */
export class LoadGuard {
  private callers = 0;
  private looking = false;
  private readonly pools: ReadonlyMap<string, Pool>;

  constructor(
    private readonly limits: GuardLimits,
    private readonly runtime: Runtime,
  ) {
    const onNested = (): void => this.lookSoon();
    this.pools = new Map(
      [...limits.pools].map(([name, pool]) => [name, new Pool(name, pool, runtime, onNested)]),
    );
  }

  get load(): { readonly slots: number; readonly queued: number; readonly callers: number } {
    const loads = [...this.pools.values()].map(({ load }) => load);
    const sum = (of: 'slots' | 'queued'): number => loads.reduce((total, load) => total + load[of], 0);
    return { slots: sum('slots'), queued: sum('queued'), callers: this.callers };
  }

  get byPool(): Readonly<Record<string, Pool['load']>> {
    return Object.fromEntries([...this.pools].map(([name, { load }]) => [name, load]));
  }

  /** Counts one waiting caller in. @throws LoadRejectedError beyond `waiters` */
  admit(where: string): void {
    const { waiters } = this.limits;
    if (this.callers >= waiters) {
      const why = `${waiters} callers wait already (loads.waiters)`;
      throw new LoadRejectedError(`${where}: the load was shed, ${why}.`, CROWD_RETRY);
    }
    this.callers += 1;
  }

  /** Counts it out. */
  dismiss(): void {
    this.callers -= 1;
  }

  /** Asks for a slot of the policy's pool. The ticket's `slot` rejects with LoadRejectedError when there is none in time. */
  enter(
    { where, pool }: { readonly where: string; readonly pool: string },
    options: { readonly background: boolean; readonly parent?: Slot | undefined },
  ): Ticket {
    return this.poolOf(pool).enter(where, options);
  }

  private poolOf(name: string): Pool {
    const pool = this.pools.get(name);
    // A policy that names an unknown pool was refused.
    if (pool === undefined) throw new Error(`The load guard has no pool '${name}'.`);
    return pool;
  }

  /** Not at once: what a load waits for is known when the call inside it has boarded. */
  private lookSoon(): void {
    // Within one pool every chain has its own slot.
    if (this.looking || this.pools.size === 1) return;
    this.looking = true;
    this.runtime.timers.endOfTick(() => this.untangle());
  }

  /**
   * Loads of pool A that wait for slots of pool B, and the other way round, would wait for ever. None of them calls its origin
   * meanwhile: one of those who wait for B runs on the slot of another who holds one, and the limit holds all the same.
   */
  private untangle(): void {
    let any = false;
    for (const pool of this.pools.values()) {
      const ticket = pool.urgent;
      if (ticket === undefined) continue;
      any = true;
      if (isStuck(pool)) pool.lendTo(ticket);
    }
    this.looking = any;
    // What a load waits for changes without our doing.
    if (any) this.runtime.timers.after(LOOK_EVERY, () => this.untangle(), true);
  }
}
