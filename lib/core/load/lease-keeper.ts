import type { StoreGate } from '../gate/index.js';
import type { EntryKey } from '../keys/index.js';
import { nothing } from '../nothing.js';
import type { Cancel, Runtime } from '../ports.js';

/** A lease we hold. */
export interface Lease {
  readonly token: string;
  readonly leaseMs: number;
  /** Store time of the grant: the load's begin as everybody sees it. */
  readonly grantedAt: number;
}

/** Renews a lease every third of its length while its load runs, and knows what the store last said of it. */
export class LeaseKeeper {
  /** The store said that it is not ours any more. */
  lost = false;
  /** Somebody in another process waits for it. */
  contended = false;
  private stopped = false;
  private cancel: Cancel = nothing;

  constructor(
    private readonly key: EntryKey,
    readonly lease: Lease,
    private readonly gate: StoreGate,
    private readonly runtime: Runtime,
    private readonly onLost: () => void,
    /** What else must be kept while the load runs. */
    private readonly keepAlong: () => void,
  ) {
    this.schedule();
  }

  /** Asks the store now. Whoever can't be asked counts as contended: the load goes on. */
  async check(): Promise<void> {
    const { token, leaseMs } = this.lease;
    try {
      const state = await this.gate.write('renew', this.key, () =>
        this.gate.store.renew(this.key, token, leaseMs),
      );
      this.contended = state.contended;
      if (state.held || this.lost || this.stopped) return;
      this.lost = true;
      this.stop();
      this.onLost();
    } catch {
      this.contended = true;
    }
  }

  stop(): void {
    this.stopped = true;
    this.cancel();
  }

  private schedule(): void {
    const third = Math.max(1, this.lease.leaseMs / 3);
    this.cancel = this.runtime.timers.after(third, () => void this.turn(), true);
  }

  private async turn(): Promise<void> {
    this.keepAlong();
    await this.check();
    if (!this.stopped) this.schedule();
  }
}
