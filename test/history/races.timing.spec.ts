import { measured } from '../integration/fleet/fleet.js';
import { Races, type RaceKind } from './races.js';

/** `HISTORY_RACES=1000` makes a measurement of it. */
const REPETITIONS = Number(process.env['HISTORY_RACES'] ?? 50);

let races: Races;

beforeAll(async () => {
  races = await Races.start(REPETITIONS);
}, 30_000);
afterAll(() => races.stop());

describe('A load that has read the old row when another process commits a new one', () => {
  it('would be seen if it stored that row', async () => {
    expect(await races.control()).toBe(true);
  });

  it.each<[string, RaceKind]>([
    ['the key', 'invalidate'],
    ['a tag, maxLag later', 'invalidateTags'],
    ['everything, maxLag later', 'clear'],
  ])(
    `is never read again after an invalidation of %s: ${REPETITIONS} of ${REPETITIONS}`,
    async (_, kind) => {
      const result = await races.run(kind);
      measured(`races: ${kind}`, result);
      expect(result.won).toBe(REPETITIONS);
      // Two processes, twice each after the load has gone on; half of the time also while it pauses.
      expect(result.reads).toBeGreaterThanOrEqual(4 * REPETITIONS);
      expect(result.looks).toBe(3 * REPETITIONS);
    },
    30_000 + 200 * REPETITIONS,
  );
});
