import type { CallRecord, ChangeRecord, Chronicle, IllnessRecord, LoadRecord, Report } from '../records.js';
import { MAX_LAG } from '../terms.js';
import { wrongValues } from './wrong-values.js';

const KEY = 'hot-1';

interface Tale {
  readonly call: Partial<CallRecord>;
  readonly load?: Partial<LoadRecord>;
  readonly change?: Partial<ChangeRecord>;
  readonly illnesses?: readonly IllnessRecord[];
}

/** Process 1 changes the row to version 2 from 100 to 110; process 0 calls from 200 to 210, and gets version 1. */
function tale({ call, load, change, illnesses = [] }: Tale): Chronicle {
  const calls = [
    {
      process: 0,
      key: KEY,
      begin: 200,
      end: 210,
      outcome: 'joined',
      row: { key: KEY, version: 1, load: '0:0' },
      ...call,
    },
  ];
  const loads = [{ process: 0, id: '0:0', key: KEY, begin: 50, end: 205, leased: true, ...load }];
  const changes = [
    { process: 1, by: 'key' as const, versions: { [KEY]: 2 }, begin: 100, end: 110, ...change },
  ];
  const report: Report = {
    process: 0,
    calls,
    loads,
    changes,
    hanging: 0,
    peakLoads: 0,
    unhandled: [],
    lines: [],
    delay: { p99: 0, max: 0 },
    peakQueue: 0,
  };
  return { reports: [report], illnesses };
}

const ill: IllnessRecord = { kind: 'frozen', begin: 60, healed: 300, recovery: [] };

const rowOf = (version: number, key = KEY) => ({ key, version, load: '0:0' });

describe('A value is wrong', () => {
  it.each<[string, Tale]>([
    ['when it is another key’s', { call: { row: rowOf(2, 'hot-2') } }],
    ['when it is none', { call: { row: undefined } }],
    ['when the origin never gave it', { call: { row: rowOf(3) } }],
    ['when a change was acknowledged before the call began', { call: {} }],
    [
      'when its load was over before the call began, ill or not',
      { call: {}, load: { end: 190 }, illnesses: [ill] },
    ],
    ['when its load ran in another process', { call: {}, load: { process: 2 }, illnesses: [ill] }],
    ['against a change of its own process', { call: {}, change: { process: 0 }, illnesses: [ill] }],
    [
      'when the change was by tag, and its time is up',
      { call: { begin: 111 + MAX_LAG }, change: { by: 'tag' } },
    ],
  ])('%s', (_, told) => {
    expect(wrongValues(tale(told)).wrong).toHaveLength(1);
  });

  it.each<[string, Tale]>([
    ['when it is the newest', { call: { row: rowOf(2) } }],
    ['when the change was not acknowledged', { call: {}, change: { error: 'InvalidationError' } }],
    ['when the call began before that', { call: { begin: 105 } }],
    ['when the change was by tag, and its time is not up', { call: {}, change: { by: 'tag' } }],
    ['when the call rejected', { call: { outcome: undefined, row: undefined, error: 'WaitTimeoutError' } }],
  ])('not %s', (_, told) => {
    const { wrong, excused } = wrongValues(tale(told));
    expect([wrong, excused]).toEqual([[], { lostWrite: 0, joined: 0 }]);
  });

  it.each<[string, Tale, keyof ReturnType<typeof wrongValues>['excused']]>([
    ['who joined a load without a lease', { call: {}, load: { leased: false } }, 'joined'],
    ['who joined a load while Redis was ill', { call: {}, illnesses: [ill] }, 'joined'],
    [
      'when the change died with its server',
      { call: {}, load: { end: 60 }, illnesses: [{ ...ill, lost: { from: 90, to: 120 } }] },
      'lostWrite',
    ],
  ])('is excused, and counted: %s', (_, told, reason) => {
    const { wrong, excused } = wrongValues(tale(told));
    expect([wrong, excused]).toEqual([[], { lostWrite: 0, joined: 0, [reason]: 1 }]);
  });
});
