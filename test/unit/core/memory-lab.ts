import type { CacheOptions } from '../../../lib/core/cache-options.js';
import type { Store } from '../../../lib/core/store.js';
import { createMemoryStore } from '../../../lib/memory/index.js';
import { Process } from '../../contract/cache/lab.js';
import { createFakeRuntime, type FakeRuntime } from '../../support/fake-runtime.js';
import { ForwardingStore } from '../../support/forwarding-store.js';

/** A fleet on one in-process store, with time and the store's behaviour in the test's hands. */
export class MemoryLab {
  readonly fake: FakeRuntime = createFakeRuntime();
  readonly store: Store = createMemoryStore({ runtime: this.fake.runtime, epochMs: 1_700_000_000_000 });

  async process(
    options: CacheOptions = {},
    wrap: (store: Store) => Store = (store) => store,
  ): Promise<Process> {
    const { runtime } = this.fake;
    const lab = {
      runtime,
      openStore: async () => new KeptOpen(this.store),
      advance: this.fake.advance,
      warnings: [],
      close: async () => undefined,
    };
    return Process.open(lab, options, wrap);
  }

  get warnings(): string[] {
    return this.fake.logs.map(({ message }) => message);
  }
}

/** One process's view of the store: its closing leaves the others' alone. */
export class KeptOpen extends ForwardingStore {
  override async close(): Promise<void> {
    // The lab closes the store itself.
  }
}
