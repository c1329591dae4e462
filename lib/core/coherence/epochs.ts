import type { StoreGate } from '../gate/store-gate.js';
import type { Runtime } from '../ports.js';

/** All names of the cache. */
export const EVERYTHING = '';

/**
 * What `clear` has raised the epochs to, as far as this process knows. An entry counts when its epoch reaches the greatest
 * one known for its name. Changes are pushed here; besides, the store is asked again every half of `maxLag` of use, which
 * bounds how late a lost push is noticed, and keeps the store from evicting what is asked for so often.
 */
export class Epochs {
  private readonly known = new Map<string, number>();
  /** The monotonic time up to which every clear is known; only an answer tells. */
  private asOf = -Infinity;
  /** The question that this tick's readers share. */
  private shared: Promise<void> | undefined;

  constructor(
    private readonly gate: StoreGate,
    private readonly runtime: Runtime,
    private readonly maxLag: number,
    private readonly owns: (task: Promise<void>) => void,
  ) {}

  /** The epoch that entries of this name must have. */
  least(name: string): number {
    const all = this.known.get(EVERYTHING) ?? 0;
    return name === EVERYTHING ? all : Math.max(all, this.known.get(name) ?? 0);
  }

  /** It is time to ask again. */
  isDue(now = this.runtime.clock.now()): boolean {
    return now - this.asOf >= this.maxLag / 2;
  }

  /** The store has never said what was cleared. */
  get isUnknown(): boolean {
    return this.asOf === -Infinity;
  }

  /** Every clear is known that ended `maxLag` ago or earlier. */
  get isCertain(): boolean {
    return this.runtime.clock.now() - this.asOf < this.maxLag;
  }

  /** Asks the store. Never rejects: without an answer what was known still holds. */
  ask(): Promise<void> {
    if (this.shared) return this.shared;
    const asked = this.inquire();
    this.shared = asked;
    // Whoever came later could get an answer older than a clear it knows to be over.
    this.runtime.timers.endOfTick(() => {
      if (this.shared === asked) this.shared = undefined;
    });
    return asked;
  }

  /** An epoch is at least this. */
  learn(scope: string, epoch: number): void {
    if (epoch > (this.known.get(scope) ?? 0)) this.known.set(scope, epoch);
  }

  private async inquire(): Promise<void> {
    const { gate, runtime } = this;
    await new Promise<void>((resolve) => runtime.timers.endOfTick(resolve));
    const sentAt = runtime.clock.now();
    try {
      const epochs = await gate.spend(gate.budget(), 'read the epochs', 'epochs', () => gate.store.epochs());
      const lost = [...this.known].filter(([scope, epoch]) => (epochs.get(scope) ?? 0) < epoch);
      for (const [scope, epoch] of epochs) this.learn(scope, epoch);
      if (lost.length > 0) this.owns(this.raise(new Map(lost)));
      this.asOf = Math.max(this.asOf, sentAt);
    } catch {
      // What was known still holds; the next reader asks again.
    }
  }

  /** The store lost them: a process that starts now must not take for valid what was cleared. */
  private async raise(epochs: ReadonlyMap<string, number>): Promise<void> {
    await this.gate
      .write('raise the epochs', 'epochs', () => this.gate.store.raiseEpochs(epochs))
      .catch(() => undefined);
  }
}
