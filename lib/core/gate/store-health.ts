import type { Advice } from '../advice.js';
import type { Runtime } from '../ports.js';
import type { Store, Target } from '../store.js';
import { Debts } from './debts.js';
import { illnessOf } from './illness.js';
import { Refusals } from './refusals.js';
import { ServerHealth } from './server-health.js';

/** Answers owed at most: beyond it nothing more is sent. */
const MOST_OWED = 1_000;

export interface HealthEvents {
  /** No server was silent until now. */
  onSilent(reason: string): void;
  /** None is any more. */
  onAnswer(): void;
}

/** One server as it is known. Several together, or an unknown one, go by {@link SEVERAL}. */
interface Known {
  readonly health: ServerHealth;
  readonly refusals: Refusals;
}

/** Their silence is nobody's: which of them it was is not known. */
const SEVERAL = '*';

/** What is known of the store's illnesses, server by server, and which operations are in vain for now. */
export class StoreHealth {
  /** Those of whom anything is remembered. */
  private readonly servers = new Map<string, Known>();
  private readonly debts = new Debts();
  private silent = 0;
  private isClosed = false;
  private readonly name: string;

  constructor(
    private readonly store: Store,
    private readonly runtime: Runtime,
    private readonly advice: Advice,
    private readonly events: HealthEvents,
    /** Within what time a probe must be answered. */
    private readonly within: (operation: () => Promise<void>) => Promise<void>,
  ) {
    this.name = store.kind === 'redis' ? 'Redis' : 'The store';
  }

  /** Why an operation need not be tried now. Undefined: it may. */
  barrier(what: string, target: Target): string | undefined {
    const obstacle = this.store.obstacle();
    if (obstacle !== undefined) return obstacle;
    if (this.servers.size > 0) {
      const known = this.servers.get(this.serverOf(target));
      if (known?.health.isSilent === true) return `${this.name} does not answer`;
      const refusal = known?.refusals.barrier(what);
      if (refusal !== undefined) return refusal;
    }
    return this.overload();
  }

  /** Why an operation on this would be in vain for now: not connected, or silent. */
  unreachable(target: Target): string | undefined {
    const obstacle = this.store.obstacle();
    if (obstacle !== undefined || this.silent === 0) return obstacle;
    const isSilent = this.servers.get(this.serverOf(target))?.health.isSilent === true;
    return isSilent ? `${this.name} does not answer` : undefined;
  }

  /** Why nothing can be sent at all. Undefined: something may. */
  congestion(): string | undefined {
    return this.store.obstacle() ?? this.overload();
  }

  /** An operation succeeded in time. */
  succeeded(what: string, target: Target): void {
    if (this.debts.count > 0) this.debts.answered(this.serverOf(target));
    if (this.servers.size === 0) return;
    const server = this.serverOf(target);
    this.servers.get(server)?.refusals.accepted(what);
    this.answered(server);
  }

  /** An operation failed; `cause` undefined: no answer came in time. */
  failed(what: string, target: Target, cause: unknown): void {
    if (this.isClosed) return;
    const server = this.serverOf(target);
    const illness = illnessOf(cause);
    if (illness.kind === 'silent') {
      if (cause !== undefined) this.debts.giveUp(server);
      if (server !== SEVERAL) this.known(server).health.silent();
      return;
    }
    if (illness.kind === 'lost') return;
    this.answered(server);
    if (illness.kind === 'refused') this.known(server).refusals.add(what, illness.code, illness.message);
  }

  /** An answer is owed from now on, until what is returned is called. */
  owe(): () => void {
    return this.debts.add();
  }

  /** An answer that was owed will never be heard of: the client gave up too. */
  giveUp(target: Target): void {
    this.debts.giveUp(this.serverOf(target));
  }

  /** Its server has answered, late for a reason of its own. */
  excuse(target: Target): void {
    if (this.servers.size > 0) this.answered(this.serverOf(target));
  }

  /** There is a new connection: what was known of the old one says nothing. */
  reset(): void {
    this.debts.reset();
    for (const { health } of this.servers.values()) health.close();
    this.servers.clear();
    if (this.silent > 0) this.events.onAnswer();
    this.silent = 0;
  }

  close(): void {
    this.isClosed = true;
    for (const { health } of this.servers.values()) health.close();
    this.servers.clear();
  }

  private overload(): string | undefined {
    return this.debts.count < MOST_OWED ? undefined : `${MOST_OWED} commands have had no answer yet`;
  }

  private answered(server: string): void {
    const known = this.servers.get(server);
    if (known === undefined) return;
    known.health.answered();
    if (known.refusals.isNone) this.servers.delete(server);
  }

  private serverOf(target: Target): string {
    return this.store.serverOf(target) ?? SEVERAL;
  }

  private known(server: string): Known {
    const known = this.servers.get(server);
    if (known) return known;
    const { runtime, advice } = this;
    const who = server === '' || server === SEVERAL ? this.name : `${this.name} at ${server}`;
    const refusals = new Refusals(who, runtime.clock, runtime.log, advice);
    const made = { health: this.watch(server, who), refusals };
    this.servers.set(server, made);
    return made;
  }

  private watch(server: string, who: string): ServerHealth {
    const { store, runtime, advice } = this;
    let isSaid = false;
    return new ServerHealth(runtime, {
      probe: () => this.within(() => store.probe(server)),
      reconnect: () => store.reconnect(server),
      onSilent: () => {
        const reason = `${who} does not answer`;
        isSaid = advice.sometimes(
          `silent ${server}`,
          () => `${reason}. Calls go on without it, through the load guard, until it does.`,
        );
        this.silent += 1;
        if (this.silent === 1) this.events.onSilent(reason);
      },
      onAnswer: (ms) => {
        if (isSaid) runtime.log.info(`${who} answers again, after ${Math.round(ms)} ms.`);
        this.silent -= 1;
        if (this.silent === 0) this.events.onAnswer();
      },
    });
  }
}
