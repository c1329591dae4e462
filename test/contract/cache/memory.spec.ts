import { createMemoryStore } from '../../../lib/memory/index.js';
import { createFakeRuntime } from '../../support/fake-runtime.js';
import { KeptOpen } from '../../unit/core/memory-lab.js';
import { cacheContract } from './cache-contract.js';

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
      const { foreground, background } = fake.pending();
      if (foreground + background > 0) throw new Error(`${foreground + background} timers were left armed`);
    },
  };
});
