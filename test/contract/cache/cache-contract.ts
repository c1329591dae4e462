import { callContract } from './call.contract.js';
import { changeContract } from './change.contract.js';
import { clearContract } from './clear.contract.js';
import { compressContract } from './compress.contract.js';
import { deferContract } from './defer.contract.js';
import { guardContract } from './guard.contract.js';
import { hostileContract } from './hostile.contract.js';
import type { Lab } from './lab.js';
import { manyContract } from './many.contract.js';
import { policyContract } from './policy.contract.js';
import { singleFlightContract } from './single-flight.contract.js';
import { softContract } from './soft.contract.js';
import { stalenessContract } from './staleness.contract.js';
import { Subject } from './subject.js';
import { tagsContract } from './tags.contract.js';
import { versionsContract } from './versions.contract.js';

/** What the cache promises, whatever the store. */
export function cacheContract(name: string, openLab: () => Promise<Lab>): void {
  describe(`the cache on ${name}`, () => {
    let subject: Subject;

    beforeEach(async () => {
      subject = new Subject(await openLab());
    });
    afterEach(() => subject.close());

    singleFlightContract(() => subject);
    stalenessContract(() => subject);
    changeContract(() => subject);
    policyContract(() => subject);
    callContract(() => subject);
    hostileContract(() => subject);
    tagsContract(() => subject);
    clearContract(() => subject);
    softContract(() => subject);
    versionsContract(() => subject);
    deferContract(() => subject);
    guardContract(() => subject);
    manyContract(() => subject);
    compressContract(() => subject);
  });
}
