import { check } from './check/index.js';
import { excerpt } from './excerpt.js';
import { figuresOf, LONG_RUN, vacuity } from './figures.js';
import { call, change, fault, load, told } from './story.js';

const fenced = load('old', { at: [10, 50] }, { commit: 'fenced' });
const blind = load('old', { at: [10, 50] }, { leased: false, reason: 'redis_down' });
const invalidated = change('inv', 'invalidate', { at: [20, 30] });

describe('The history checker', () => {
  it('says what it left out', () => {
    const { exclusions } = check(told(blind, invalidated, call('c', { at: [31, 52] }, { got: 'old' })));
    expect([...exclusions.values()]).toEqual([1]);
  });

  it('shows a violation by the records about its key, one a line, in the order of their times', () => {
    const history = told(
      fenced,
      invalidated,
      call('c', { at: [31, 60] }, { got: 'old' }),
      call('other', { key: 'tagged', at: [32, 33] }),
    );
    const [violation] = check(history).violations.filter(({ rule }) => rule === '3');
    if (!violation) throw new Error('there is one');
    const [head, ...lines] = excerpt(history, violation).split('\n');
    expect(head).toMatch(
      /^guarantee 3, key k: c got version 1 of old: older than a change that had resolved \(invalidate by p1/,
    );
    expect(lines.filter((line) => line.startsWith('>')).map((line) => line.split(/\s+/)[3])).toEqual([
      'load.begin',
      'change.begin',
      'change.end',
      'call.begin',
      'load.end',
      'call.end',
    ]);
    expect(lines.join('\n')).not.toContain('other');
  });

  it('counts what a run did, and calls one that did too little vacuous', () => {
    const figures = figuresOf(
      told(fenced, invalidated, call('c', { at: [31, 60] }, { got: 'old' }), fault('p1', 'kill', 70)),
    );
    expect(figures).toMatchObject({ operations: 2, reads: 1, loads: 1, changes: 1, kills: 1, inFlight: 1 });
    expect(vacuity(figures, LONG_RUN)).toHaveLength(3);
    expect(vacuity({ ...figures, fenced: 100, kills: 20, inFlight: 20 }, LONG_RUN)).toEqual([]);
  });
});
