import { broken, call, fault, load } from '../story.js';
import { checkCases, type Case } from '../cases.js';

const old = load('old', { at: [10, 50] });

const CASES: readonly Case[] = [
  [
    "another caller's abort",
    broken(call('c', { at: [10, 20] }, { error: 'AbortError', abortedAt: 15 })),
    broken(call('c', { at: [10, 20] }, { error: 'AbortError' })),
    '5',
  ],
  [
    'a failure of the cache',
    broken(load('l', { at: [12, 15] }, { ok: false }), call('c', { at: [10, 20] }, { error: 'OriginError' })),
    broken(
      load('l', { at: [12, 15] }, { ok: false }),
      call('c', { at: [10, 20] }, { error: 'CacheUnavailableError' }),
    ),
    '6',
  ],
  [
    'a call that fails though its load succeeded',
    broken(
      load('l', { at: [12, 15] }, { ok: false, call: 'c' }),
      call('c', { at: [10, 20] }, { error: 'OriginError' }),
    ),
    broken(
      load('l', { at: [12, 15] }, { call: 'c' }),
      call('c', { at: [10, 20] }, { error: 'WaitTimeoutError' }),
    ),
    '6',
  ],
  [
    'an error of a load that nobody saw fail',
    broken(
      load('l', { by: 'p1', at: [12, 15] }, { ok: false }),
      call('c', { at: [10, 20] }, { error: 'RemoteLoadError' }),
    ),
    broken(load('l', { by: 'p1', at: [12, 15] }), call('c', { at: [10, 20] }, { error: 'RemoteLoadError' })),
    '6',
  ],
  [
    'more loads at once than the guard lets through',
    broken(
      load('a', { at: [10, 50] }),
      load('b', { key: 'stale', at: [20, 60] }),
      load('c', { key: 'tagged', at: [50, 70] }),
    ),
    broken(
      load('a', { at: [10, 50] }),
      load('b', { key: 'stale', at: [20, 60] }),
      load('c', { key: 'tagged', at: [49, 70] }),
    ),
    '7',
  ],
  [
    'a load that goes on after a call of its own beside too many',
    broken(
      load('a', { key: 'stale', at: [10, 50] }),
      load('outer', { at: [10, 50] }),
      call('c', { key: 'tagged', at: [20, 40] }, { inside: 'outer' }),
      load('inner', { key: 'tagged', at: [25, 35] }, { call: 'c' }),
    ),
    broken(
      load('a', { key: 'stale', at: [10, 50] }),
      load('outer', { at: [10, 50] }),
      call('c', { key: 'tagged', at: [20, 30] }, { inside: 'outer' }),
      load('inner', { key: 'tagged', at: [22, 28] }, { call: 'c' }),
      load('more', { key: 'stale', at: [40, 45] }),
    ),
    '7',
  ],
  [
    'a value past its ttl',
    broken(old, call('c', { at: [1_050, 1_051] }, { got: 'old' })),
    broken(old, call('c', { at: [1_100, 1_101] }, { got: 'old' })),
    'staleness',
  ],
  [
    'a stale value past its window',
    broken(
      load('old', { key: 'stale', at: [10, 50] }),
      call('c', { key: 'stale', at: [240, 241] }, { got: 'old', outcome: 'stale' }),
    ),
    broken(
      load('old', { key: 'stale', at: [10, 50] }),
      call('c', { key: 'stale', at: [300, 301] }, { got: 'old', outcome: 'stale' }),
    ),
    'staleness',
  ],
  [
    'a value that stands in for no failure',
    broken(
      load('old', { key: 'stale', at: [10, 50] }),
      load('ill', { key: 'stale', at: [302, 310] }, { ok: false }),
      call('c', { key: 'stale', at: [300, 311] }, { got: 'old', outcome: 'stale' }),
    ),
    broken(
      load('old', { key: 'stale', at: [10, 50] }),
      load('well', { key: 'stale', at: [302, 310] }),
      call('c', { key: 'stale', at: [300, 311] }, { got: 'old', outcome: 'stale' }),
    ),
    'staleness',
  ],
  [
    'a call that never settles',
    broken(call('c', { at: [10] }), fault('p0', 'kill', 20)),
    broken(call('c', { at: [10] }), fault('p0', 'quiet', 9_000)),
    'waiting',
  ],
  [
    'a call that takes too long',
    broken(
      old,
      call('c', { at: [9, 5_000] }, { got: 'old' }),
      fault('p0', 'stop', 20),
      fault('p0', 'cont', 4_000),
    ),
    broken(old, call('c', { at: [9, 5_000] }, { got: 'old' })),
    'waiting',
  ],
];

describe('Of callers, the history checker', () => {
  checkCases(CASES);
});
