import { broken, call, change, load, op } from '../story.js';
import { checkCases, type Case } from '../cases.js';

const old = load('old', { at: [10, 50] });
const fenced = load('old', { at: [10, 50] }, { commit: 'fenced' });
const blind = load('old', { at: [10, 50] }, { leased: false, reason: 'redis_down' });
const invalidated = change('inv', 'invalidate', { at: [20, 30] });

/** Granted first, begun last: its process was slow, and has led another load meanwhile. */
const takenEarly = [
  ...op('a', 'acquire', { by: 'p0', at: [2, 3] }, { token: 'a', reply: 'owner' }),
  ...load('late', { at: [12, 40] }, { commit: 'none' }).filter(({ t }) => t >= 12),
  ...op('c', 'commit', { by: 'p0', at: [41, 42] }, { token: 'a', load: 'late', reply: 'fenced' }),
];
const next = load('next', { at: [10, 60] });

const CASES: readonly Case[] = [
  [
    'a lease granted while another one surely stands',
    broken(old, op('o', 'acquire', { by: 'p1', at: [53, 54] }, { reply: 'owner' })),
    broken(old, op('o', 'acquire', { by: 'p1', at: [40, 41] }, { reply: 'owner' })),
    '1',
  ],
  [
    'a lease that nothing has taken',
    broken(fenced, invalidated, load('new', { by: 'p1', at: [35, 60] })),
    broken(old, load('new', { by: 'p1', at: [35, 60] }, { commit: 'fenced' })),
    '1',
  ],
  [
    'a lease that was taken before its load began, by nothing',
    broken(takenEarly, change('inv', 'invalidate', { at: [5, 7] }), next),
    broken(takenEarly, next),
    '1',
  ],
  [
    'a lease that was renewed',
    broken(load('old', { at: [10, 400] }, { commit: 'fenced' }), load('new', { by: 'p1', at: [220, 260] })),
    broken(
      load('old', { at: [10, 400] }, { commit: 'fenced' }),
      op('r', 'renew', { at: [150, 151] }, { token: 'old', reply: 'held' }),
      load('new', { by: 'p1', at: [220, 260] }),
    ),
    '1',
  ],
  [
    'two loads of one process without Redis',
    broken(blind, load('two', { at: [60, 70] }, { leased: false, reason: 'redis_down' })),
    broken(blind, load('two', { at: [40, 70] }, { leased: false, reason: 'redis_down' })),
    '1',
  ],
  [
    'a fenced value for a caller who came after its load had begun',
    broken(fenced, call('c', { at: [9, 55] }, { got: 'old', outcome: 'loaded' })),
    broken(fenced, call('c', { at: [11, 55] }, { got: 'old', outcome: 'joined' })),
    '2',
  ],
  [
    'a load without a lease for a caller who came after it had begun',
    broken(
      load('old', { at: [10, 50] }, { leased: false, reason: 'wait_timeout' }),
      call('c', { at: [9, 55] }, { got: 'old' }),
    ),
    broken(
      load('old', { at: [10, 50] }, { leased: false, reason: 'wait_timeout' }),
      call('c', { at: [11, 55] }, { got: 'old' }),
    ),
    '2',
  ],
  ['a commit of a load whose lease was taken', broken(fenced, invalidated), broken(old, invalidated), '2'],
  [
    'a commit of a load that began before its grant',
    broken(old),
    broken(
      load('old', { at: [10, 50] }, { commit: 'none' }),
      op('g', 'acquire', { at: [20, 21] }, { token: 'late', reply: 'owner' }),
      op('w', 'commit', { at: [51, 52] }, { token: 'late', load: 'old', reply: 'stored' }),
    ),
    '2',
  ],
];

describe('Of leases and publishes, the history checker', () => {
  checkCases(CASES);
});
