import { measured } from '../integration/fleet/fleet.js';
import { ILLNESSES, type IllnessName } from './illnesses.js';
import { findingsOf } from './judge/figures.js';
import { failures, leastOf, vacuity } from './judge/verdict.js';
import { runChaos } from './run.js';
import { CONCURRENCY } from './terms.js';

const KINDS = Object.keys(ILLNESSES) as IllnessName[]; // the keys of a record are its names
/** Two minutes of it: `npm run test:chaos`. */
const SECONDS = 10;

describe('Four processes under steady load while Redis falls ill in one way after the other', () => {
  it('serve no wrong value, keep the guard, and are back within seconds', async () => {
    const chronicle = await runChaos({ seed: 7, seconds: SECONDS, length: [600, 1_000], pause: [200, 400] });
    const findings = findingsOf(chronicle);
    const kinds = chronicle.illnesses.map(({ kind }) => kind);
    measured(`chaos: ${kinds.join(', ')}`, findings.figures);
    expect(findings.wrong.slice(0, 3)).toEqual([]);
    expect([...findings.unhandled, ...findings.otherErrors]).toEqual([]);
    expect(failures(findings)).toEqual([]);
    expect(vacuity(findings, leastOf(SECONDS, KINDS.length))).toEqual([]);
  }, 60_000);

  it('would be found out if their build were wrong', async () => {
    const chronicle = await runChaos({
      seed: 3,
      seconds: 2,
      length: [500, 700],
      pause: [200, 300],
      patience: 1_500,
      kinds: ['frozen'],
      sabotage: [['colliding'], ['unguarded'], ['forgetful'], ['resigned', 'careless']],
    });
    const findings = findingsOf(chronicle);
    const { wrong, unhandled } = findings;
    const [guarded, unguarded, , careless] = chronicle.reports;
    expect(wrong.some(({ what, call }) => what.startsWith('a value of') && call.process === 0)).toBe(true);
    expect(wrong.some(({ what }) => what.startsWith('older than'))).toBe(true);
    expect(unguarded?.peakLoads).toBeGreaterThan(CONCURRENCY);
    expect(guarded?.peakLoads).toBeLessThanOrEqual(CONCURRENCY);
    expect(careless?.unhandled).not.toEqual([]);
    expect(unhandled).toEqual(careless?.unhandled);
    for (const { recovery } of chronicle.illnesses) expect(recovery[3]).toBe(NaN);
    const failed = failures(findings).map((text) => text.split(':')[0]);
    expect(failed).toEqual(
      expect.arrayContaining(['wrongValues', 'unhandled', 'peakLoads', 'missedRecoveries']),
    );
    // So brief a run proves nothing, and says so.
    expect(vacuity(findings, leastOf(10, KINDS.length)).join()).toContain('illnesses');
  }, 60_000);
});
