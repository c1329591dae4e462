import { measured } from '../integration/fleet/fleet.js';
import { excerpt } from './excerpt.js';
import { BRIEF_RUN, figuresOf, sum, vacuity, type Figures } from './figures.js';
import { runRound } from './round.js';

/** One schedule with replies as they come, one with late ones. Minutes of it: `npm run test:history`. */
const SEEDS = [11, 12];
const SECONDS = 4;

describe('Random schedules over four processes that are killed, stopped and cut off', () => {
  const done: Figures[] = [];

  it.each(SEEDS)(
    'keep every guarantee: seed %i',
    async (seed) => {
      const { history, ruling } = await runRound({ seed, seconds: SECONDS });
      const figures = figuresOf(history);
      done.push(figures);
      measured(`history, seed ${seed}`, { ...figures, leftOut: Object.fromEntries(ruling.exclusions) });
      expect(ruling.violations.slice(0, 3).map((violation) => excerpt(history, violation))).toEqual([]);
    },
    40_000,
  );

  it('did enough to prove anything, for so brief a run', () => {
    expect(vacuity(sum(done), BRIEF_RUN)).toEqual([]);
  });
});
