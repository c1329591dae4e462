import { createMemoryStore } from '../../lib/memory/index.js';
import { createFakeRuntime } from '../support/fake-runtime.js';
import { storeContract } from './store-contract.js';

storeContract('memory', async () => {
  const fake = createFakeRuntime();
  const store = createMemoryStore({ runtime: fake.runtime, epochMs: 1_700_000_000_000 });
  return { store, second: store, advance: (ms) => fake.advance(ms), close: () => store.close() };
});
