import { broken, call, change, load } from '../story.js';
import { checkCases, type Case } from '../cases.js';

const old = load('old', { at: [10, 50] });

const CASES: readonly Case[] = [
  [
    'a change that was reported as done and was not',
    broken(change('inv', 'invalidate', { at: [20, 30] })),
    broken([
      {
        t: 20,
        process: 'p0',
        kind: 'change.begin',
        id: 'inv',
        change: 'invalidate',
        keys: ['k'],
        tags: [],
        version: 2,
      },
      { t: 30, process: 'p0', kind: 'change.end', id: 'inv' },
    ]),
    '4',
  ],
  [
    'a value from before a change that had failed in this process',
    broken(
      old,
      change('inv', 'invalidate', { by: 'p1', at: [60, 70] }, { error: 'InvalidationError' }),
      call('c', { at: [80, 85] }, { got: 'old' }),
    ),
    broken(
      old,
      change('inv', 'invalidate', { by: 'p0', at: [60, 70] }, { error: 'InvalidationError' }),
      call('c', { at: [80, 85] }, { got: 'old' }),
    ),
    '4',
  ],
  [
    'a load that is stored within a hold-off',
    broken(change('inv', 'invalidate', { at: [5, 8] }, { holdOff: 30 }), old),
    broken(change('inv', 'invalidate', { at: [5, 8] }, { holdOff: 80 }), old),
    'holdOff',
  ],
];

describe('Of changes, the history checker', () => {
  checkCases(CASES);
});
