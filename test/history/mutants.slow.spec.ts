import { runDirected } from './directed.js';
import { excerpt } from './excerpt.js';
import { MUTANTS } from './mutants.js';
import { ProjectCopy } from './project-copy.js';
import { SCHEDULES, type ScheduleName } from './schedules.js';

/** Needs room for more than one load. */
const APART: ScheduleName = 'blind';
const NAMES = Object.keys(SCHEDULES) as ScheduleName[]; // the keys of a record are its names
const ALL = NAMES.filter((name) => name !== APART);

describe('The history checker', () => {
  it('finds nothing wrong with this build, whatever window a schedule opens', async () => {
    const { history, ruling } = await runDirected(ALL);
    expect(ruling.violations.map((violation) => excerpt(history, violation))).toEqual([]);
    // The windows were open: values were there to be judged, and loads were revoked.
    expect(ruling.judged.get('3')).toBeGreaterThanOrEqual(ALL.length);
    expect(ruling.judged.get('2')).toBeGreaterThan(0);
  }, 30_000);

  it('finds nothing wrong when Redis falls silent just after a wake-up', async () => {
    const { history, ruling } = await runDirected([APART], { concurrency: 4 });
    expect(ruling.violations.map((violation) => excerpt(history, violation))).toEqual([]);
    expect(ruling.judged.get('1')).toBeGreaterThan(0);
  }, 30_000);

  it.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))(
    'finds %s',
    async (_, { edits, schedule, breaks }) => {
      const copy = new ProjectCopy(edits);
      try {
        const { ruling } = await runDirected([schedule], { root: copy.root });
        const broken = new Set(ruling.violations.map(({ rule }) => rule));
        for (const guarantee of breaks) expect(broken).toContain(guarantee);
      } finally {
        copy.remove();
      }
    },
    30_000,
  );

  it('refuses a mutant whose text the sources do not hold exactly once', () => {
    const outdated = { file: 'lib/core/flight/load-flight.ts', find: 'no such text', replace: '' };
    expect(() => new ProjectCopy([outdated])).toThrow('there 0 times instead of once');
  });
});
