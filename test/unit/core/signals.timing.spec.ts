import type { TagState } from '../../../lib/core/store.js';
import { deferred } from '../../support/deferred.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { KeptOpen, MemoryLab } from './memory-lab.js';
import { watchUnhandled } from './watch-unhandled.js';

const LAG = { coherence: { maxLag: 100 } };

describe('signals of invalidations', () => {
  let lab: MemoryLab;
  watchUnhandled();
  beforeEach(() => {
    lab = new MemoryLab();
  });

  it('2,000 reads of tags under way and 5,000 signals: no stall', async () => {
    const gate = deferred();
    const a = await lab.process(
      LAG,
      (inner) =>
        new (class extends ForwardingStore {
          override async tags(ids: readonly string[]): Promise<readonly (TagState | undefined)[]> {
            await gate.promise;
            return super.tags(ids);
          }
          override toldUntil(): number {
            return -Infinity;
          }
        })(new KeptOpen(inner)),
    );
    const b = await lab.process(LAG, (inner) => new KeptOpen(inner));
    for (let i = 0; i < 2_000; i++) await b.get(`k${i}`, () => i, { tags: [`t${i}`] });
    const reads = Array.from({ length: 2_000 }, (_, i) => a.get(`k${i}`, () => i, { tags: [`t${i}`] }));
    await lab.fake.settle();
    const started = performance.now();
    for (let i = 0; i < 5_000; i++) await lab.store.invalidateTag(`other${i}`, 0);
    const took = performance.now() - started;
    gate.resolve();
    await Promise.all(reads);
    expect(took).toBeLessThan(500);
  }, 120_000);
});
