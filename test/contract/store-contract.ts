import { acquireContract } from './acquire.contract.js';
import { backoffContract } from './backoff.contract.js';
import type { StoreHarness } from './harness.js';
import { epochsContract } from './epochs.contract.js';
import { expireContract } from './expire.contract.js';
import { holdOffContract } from './hold-off.contract.js';
import { invalidateContract } from './invalidate.contract.js';
import { leaseContract } from './lease.contract.js';
import { outcomeContract } from './outcome.contract.js';
import { publishContract } from './publish.contract.js';
import { putContract } from './put.contract.js';
import { readContract } from './read.contract.js';
import { signalsContract } from './signals.contract.js';
import { sourceVersionContract } from './source-version.contract.js';
import { Subject } from './subject.js';
import { tagsContract } from './tags.contract.js';
import { touchContract } from './touch.contract.js';
import { variantsContract } from './variants.contract.js';
import { wakeContract } from './wake.contract.js';

export type { StoreHarness } from './harness.js';

/** Everything that a {@link StoreHarness.store} promises, whichever it is. Each test has a key of its own. */
export function storeContract(name: string, open: () => Promise<StoreHarness>): void {
  describe(`the store contract, on ${name}`, () => {
    let harness: StoreHarness;
    let subject: Subject;

    beforeEach(async () => {
      harness = await open();
      await Promise.all([harness.store.open(), harness.second.open()]);
      subject = new Subject(harness);
    });
    afterEach(() => harness.close());

    const parts = {
      readContract,
      acquireContract,
      leaseContract,
      publishContract,
      touchContract,
      putContract,
    };
    const ends = { invalidateContract, outcomeContract, backoffContract, wakeContract };
    const explicit = { expireContract, holdOffContract, sourceVersionContract };
    const shared = { tagsContract, epochsContract, variantsContract, signalsContract };
    for (const part of Object.values({ ...parts, ...ends, ...explicit, ...shared })) part(() => subject);

    describe('close', () => {
      it('may be called twice', async () => {
        await subject.publish();
        await harness.store.close();
        await harness.store.close();
      });
    });
  });
}
