import { broken, call, change, fault, load } from '../story.js';
import { checkCases, type Case } from '../cases.js';

const old = load('old', { at: [10, 50] });
const fenced = load('old', { at: [10, 50] }, { commit: 'fenced' });
const blind = load('old', { at: [10, 50] }, { leased: false, reason: 'redis_down' });
const invalidated = change('inv', 'invalidate', { at: [20, 30] });

const CASES: readonly Case[] = [
  [
    'a value older than an invalidation that had resolved',
    broken(fenced, invalidated, call('c', { at: [9, 60] }, { got: 'old' })),
    broken(fenced, invalidated, call('c', { at: [31, 60] }, { got: 'old' })),
    '3',
  ],
  [
    'a value older than a set that had resolved',
    broken(change('set', 'set', { at: [20, 30] }), call('c', { at: [31, 60] }, { got: 'set' })),
    broken(fenced, change('set', 'set', { at: [20, 30] }), call('c', { at: [31, 60] }, { got: 'old' })),
    '3',
  ],
  [
    'a set that had ended before an invalidation',
    broken(change('set', 'set', { at: [15, 25] }), invalidated, call('c', { at: [40, 60] }, { got: 'set' })),
    broken(change('set', 'set', { at: [5, 15] }), invalidated, call('c', { at: [40, 60] }, { got: 'set' })),
    '3',
  ],
  [
    'a set that failed and came late',
    broken(
      change('set', 'set', { at: [5, 15] }, { error: 'InvalidationError' }),
      change('inv', 'invalidate', { at: [900, 910] }),
      call('c', { at: [920, 930] }, { got: 'set' }),
    ),
    broken(
      change('set', 'set', { at: [5, 15] }, { error: 'InvalidationError' }),
      change('inv', 'invalidate', { at: [1_100, 1_110] }),
      call('c', { at: [1_120, 1_130] }, { got: 'set' }),
    ),
    '3',
  ],
  [
    'a joined load whose commit was never sent, in a process that had its connections',
    broken(
      load('old', { at: [10, 50] }, { commit: 'none' }),
      change('inv', 'invalidate', { by: 'p1', at: [20, 30] }),
      fault('p0', 'cut', 45),
      call('c', { by: 'p0', at: [40, 60] }, { got: 'old', outcome: 'joined' }),
    ),
    broken(
      load('old', { at: [10, 50] }, { commit: 'none' }),
      change('inv', 'invalidate', { by: 'p1', at: [20, 30] }),
      call('c', { by: 'p0', at: [40, 60] }, { got: 'old', outcome: 'joined' }),
    ),
    '3',
  ],
  [
    'a value that a tag had invalidated maxLag ago',
    broken(
      load('old', { key: 'tagged', at: [10, 50] }),
      change('inv', 'invalidateTags', { at: [60, 70] }, { tags: ['t'] }),
      call('c', { key: 'tagged', at: [169, 175] }, { got: 'old' }),
    ),
    broken(
      load('old', { key: 'tagged', at: [10, 50] }),
      change('inv', 'invalidateTags', { at: [60, 70] }, { tags: ['t'] }),
      call('c', { key: 'tagged', at: [171, 175] }, { got: 'old' }),
    ),
    '3',
  ],
  [
    'a value that was cleared elsewhere maxLag ago',
    broken(old, change('clear', 'clear', { at: [60, 70] }), call('c', { at: [169, 175] }, { got: 'old' })),
    broken(old, change('clear', 'clear', { at: [60, 70] }), call('c', { at: [171, 175] }, { got: 'old' })),
    '3',
  ],
  [
    'a value that was cleared in this process',
    broken(
      old,
      change('clear', 'clear', { by: 'p1', at: [60, 70] }),
      call('c', { at: [71, 75] }, { got: 'old' }),
    ),
    broken(
      old,
      change('clear', 'clear', { by: 'p0', at: [60, 70] }),
      call('c', { at: [71, 75] }, { got: 'old' }),
    ),
    '3',
  ],
  [
    'a load without Redis that was joined after a change made here',
    broken(blind, invalidated, call('c', { at: [31, 52] }, { got: 'old', outcome: 'joined' })),
    broken(
      blind,
      change('inv', 'invalidate', { by: 'p0', at: [20, 30] }),
      call('c', { at: [31, 52] }, { got: 'old', outcome: 'joined' }),
    ),
    '3',
  ],
  [
    'a load without Redis whose value goes to another process',
    broken(blind, invalidated, call('c', { by: 'p0', at: [31, 52] }, { got: 'old', outcome: 'joined' })),
    broken(blind, invalidated, call('c', { by: 'p1', at: [31, 52] }, { got: 'old', outcome: 'waited' })),
    '3',
  ],
  [
    'a commit whose outcome was known',
    broken(
      load('old', { at: [10, 50] }, { commit: 'silent' }),
      invalidated,
      call('c', { at: [31, 52] }, { got: 'old', outcome: 'joined' }),
    ),
    broken(fenced, invalidated, call('c', { at: [31, 52] }, { got: 'old', outcome: 'joined' })),
    '3',
  ],
  [
    'a softly expired value that is passed off as fresh',
    broken(
      old,
      change('exp', 'expire', { at: [60, 70] }),
      call('c', { at: [110, 115] }, { got: 'old', outcome: 'stale' }),
    ),
    broken(
      old,
      change('exp', 'expire', { at: [60, 70] }),
      call('c', { at: [110, 115] }, { got: 'old', outcome: 'fresh' }),
    ),
    'expire',
  ],
  [
    'an older load for a caller who wants a fresh one',
    broken(old, call('c', { at: [9, 60] }, { kind: 'fresh', got: 'old', outcome: 'loaded' })),
    broken(old, call('c', { at: [11, 60] }, { kind: 'fresh', got: 'old', outcome: 'joined' })),
    'fresh',
  ],
  [
    'a value nobody loaded',
    broken(old, call('c', { at: [60, 61] }, { got: 'old' })),
    broken(old, call('c', { at: [60, 61] }, { got: 'other' })),
    'origin',
  ],
];

describe('Of values, the history checker', () => {
  checkCases(CASES);
});
