import type { Cancel } from '../ports.js';
import type { EntryKey } from '../keys/index.js';
import type { Wake } from '../store.js';
import type { Engine } from './engine.js';

/** Why waiting is over. `ended`: the load waited for left `outcome`. `retry`: ask again. */
export type Woken =
  | { readonly kind: 'published' | 'retry' | 'deserted' | 'late' }
  | { readonly kind: 'ended'; readonly outcome: string };

const RETRY: Woken = { kind: 'retry' };
/** Asks again at least so often, should a push be lost on a link that looks alive, ms. */
const LONGEST_TRUST = 1_000;
/** After the lease's end by the store's clock, ms. */
const GRACE = 5;
const FIRST_POLL = 10;
const LONGEST_POLL = 100;

/**
 * Waits for the end of somebody else's lease. It listens from its construction on, that is before the lease is asked for and
 * marked as contended: no wake-up can be lost in between. The nets under the push: a timer at the lease's end, polling while
 * no push can reach us, and a wake-up for everybody when pushes come back.
 */
export class Waiter {
  private readonly early: Wake[] = [];
  private onWake: (wake: Wake) => void = (wake) => this.early.push(wake);
  private readonly stopListening: Cancel;
  private cancelTimer: Cancel = () => undefined;
  private deserted = false;
  private finish: (woken: Woken) => void = () => undefined;

  constructor(
    private readonly engine: Engine,
    private readonly key: EntryKey,
  ) {
    this.stopListening = engine.gate.store.listen(key, (wake) => this.onWake(wake));
  }

  /** Waits for the lease `token`, which ends in `leaseMs` unless renewed, until `limit` ms have passed. */
  async wait(token: string, leaseMs: number, limit: number): Promise<Woken> {
    const { timers } = this.engine.runtime;
    const stopLimit = Number.isFinite(limit)
      ? timers.after(Math.max(0, limit), () => this.finish({ kind: 'late' }))
      : undefined;
    try {
      return await new Promise<Woken>((resolve) => {
        this.finish = resolve;
        this.onWake = (wake) => this.judge(wake, token);
        for (const wake of this.early.splice(0)) this.judge(wake, token);
        if (this.deserted) this.finish({ kind: 'deserted' });
        if (this.engine.gate.store.pushUp()) this.trust(leaseMs);
        else this.poll(token, FIRST_POLL);
      });
    } finally {
      stopLimit?.();
      this.stop();
    }
  }

  /** Nobody wants the value any more. */
  desert(): void {
    this.deserted = true;
    this.finish({ kind: 'deserted' });
  }

  /** Gives the listener and the timer back. Idempotent. */
  stop(): void {
    this.stopListening();
    this.cancelTimer();
  }

  private judge(wake: Wake, token: string): void {
    if (wake.kind === 'published') this.finish({ kind: 'published' });
    else if (wake.kind !== 'ended') this.finish(RETRY);
    else if (wake.token === token)
      this.finish(wake.outcome === '' ? RETRY : { kind: 'ended', outcome: wake.outcome });
  }

  private trust(leaseMs: number): void {
    const ms = Math.min(Math.max(0, leaseMs) + GRACE, LONGEST_TRUST);
    this.cancelTimer = this.engine.runtime.timers.after(ms, () => this.finish(RETRY));
  }

  private poll(token: string, ms: number): void {
    const { timers, random } = this.engine.runtime;
    const jittered = ms * (0.75 + 0.5 * random.next());
    this.cancelTimer = timers.after(jittered, () => this.engine.background.own(this.probe(token, ms)));
  }

  /** One look without a push; an answer that can't be had counts as "still held". */
  private async probe(token: string, ms: number): Promise<void> {
    const { gate, holder } = this.engine;
    const request = {
      token: '',
      leaseMs: 0,
      holder,
      mode: 'probe',
      willWait: false,
      rejectedId: '',
      hasStale: false,
      waitedOn: token,
    } as const;
    try {
      const reply = await gate.acquire(this.key, request, gate.budget());
      if (reply.code === 'outcome') this.finish({ kind: 'ended', outcome: reply.outcome });
      else if (reply.code !== 'wait' || reply.token !== token) this.finish(RETRY);
      else this.poll(token, Math.min(ms * 2, LONGEST_POLL));
    } catch {
      this.finish(RETRY);
    }
  }
}
