import { createMemoryStore } from '../../../lib/memory/index.js';
import { createFakeRuntime } from '../../support/fake-runtime.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { cacheContract } from './cache-contract.js';

/** One process's view of the store: its closing leaves the others' alone. */
class KeptOpen extends ForwardingStore {
  override async close(): Promise<void> {}
}

cacheContract('memory', async () => {
  const fake = createFakeRuntime();
  const store = createMemoryStore({ runtime: fake.runtime, epochMs: 1_700_000_000_000 });
  // Several caches on one store are the processes of a fleet.
  return {
    runtime: fake.runtime,
    openStore: async () => new KeptOpen(store),
    advance: (ms) => fake.advance(ms),
    get warnings() {
      return fake.logs.map(({ message }) => message);
    },
    close: async () => {
      await store.close();
      await fake.advance(60_000);
      expect(fake.pending()).toEqual({ foreground: 0, background: 0 });
    },
  };
});
