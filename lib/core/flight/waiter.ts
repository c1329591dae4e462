import type { Cancel } from '../ports.js';
import type { EntryKey } from '../keys/index.js';
import { nothing } from '../nothing.js';
import type { Wake } from '../store.js';
import type { Engine } from './engine.js';

/** Why waiting is over. `ended`: the load waited for left `outcome`. `retry`: ask again. */
export type Woken =
  | { readonly kind: 'published' | 'retry' | 'deserted' }
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
  private onWake: (wake: Wake) => void;
  private readonly stopListening: Cancel;
  private cancelTimer: Cancel = nothing;
  private deserted = false;
  private stopped = false;
  private finish: (woken: Woken) => void = nothing;

  constructor(
    private readonly engine: Engine,
    private readonly key: EntryKey,
    /** The entry found unusable: it does not end the wait. */
    private readonly rejectedId: string,
  ) {
    const keep = (wake: Wake): void => void this.early.push(wake);
    this.onWake = keep;
    this.stopListening = engine.gate.store.listen(key, (wake) => this.onWake(wake));
  }

  /** Waits for the lease `token`, which ends in `leaseMs` unless renewed. */
  async wait(token: string, leaseMs: number): Promise<Woken> {
    try {
      return await new Promise<Woken>((resolve) => {
        this.finish = resolve;
        const judge = (wake: Wake): void => this.judge(wake, token);
        this.onWake = judge;
        for (const wake of this.early.splice(0)) this.judge(wake, token);
        if (this.deserted) this.finish({ kind: 'deserted' });
        this.lookAgain(token, leaseMs, FIRST_POLL);
      });
    } finally {
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
    this.stopped = true;
    this.stopListening();
    this.cancelTimer();
  }

  private judge(wake: Wake, token: string): void {
    if (wake.kind === 'published') this.finish({ kind: 'published' });
    else if (wake.kind !== 'ended') this.finish(RETRY);
    else if (wake.token === token)
      this.finish(wake.outcome === '' ? RETRY : { kind: 'ended', outcome: wake.outcome });
  }

  /** Under a working push: at the lease's end, or soon enough should a push be lost. Without one: by polling. */
  private lookAgain(token: string, leaseMs: number, poll: number): void {
    const { gate, runtime, background } = this.engine;
    const pushed = gate.store.pushUp();
    const ms = pushed
      ? Math.min(Math.max(0, leaseMs) + GRACE, LONGEST_TRUST)
      : poll * (0.75 + 0.5 * runtime.random.next());
    const next = pushed ? FIRST_POLL : Math.min(poll * 2, LONGEST_POLL);
    this.cancelTimer = runtime.timers.after(ms, () => background.own(this.probe(token, next)));
  }

  /** One look, which takes no lease and so needs no slot in front of the origin. */
  private async probe(token: string, poll: number): Promise<void> {
    const { gate, holder } = this.engine;
    const willWait = gate.store.pushUp();
    const asked = {
      token: '',
      leaseMs: 0,
      holder,
      mode: 'probe',
      willWait,
      rejectedId: this.rejectedId,
      hasStale: false,
      waitedOn: token,
    } as const;
    const reply = await gate.acquire(this.key, asked, gate.budget()).catch(() => undefined);
    if (this.stopped) return;
    if (reply?.code === 'wait' && reply.token === token) this.lookAgain(token, reply.ms, poll);
    else if (reply?.code === 'outcome') this.finish({ kind: 'ended', outcome: reply.outcome });
    else this.finish(reply?.code === 'hit' ? { kind: 'published' } : RETRY);
  }
}
