import { setTimeout as delay } from 'node:timers/promises';
import { machineNow } from '../history/clock.js';
import { Random, seedOf } from '../history/random.js';
import { ChaosFleet, type FleetOptions } from './fleet.js';
import { ILLNESSES, type IllnessName } from './illnesses.js';
import type { Chronicle, IllnessRecord } from './records.js';

export interface RunOptions extends FleetOptions {
  readonly seconds: number;
  /** How long an illness lasts, ms. Default 1000 to 3000. */
  readonly length?: readonly [from: number, to: number];
  /** The healthy pause between two illnesses, ms. Default 500 to 1500. */
  readonly pause?: readonly [from: number, to: number];
  /** Default: all kinds, in an order drawn anew each time they are through. */
  readonly kinds?: readonly IllnessName[];
  /** How long a recovery is waited for, ms. Default: longer than it may take. */
  readonly patience?: number;
  readonly onIllness?: (record: IllnessRecord) => void;
}

const PATIENCE = 8_000;
const WARM_UP = 1_000;

/** One chaos run, from its seed to what everybody has to say. The seed decides what happens when; the machine the rest. */
export async function runChaos(options: RunOptions): Promise<Chronicle> {
  const {
    seed,
    seconds,
    length = [1_000, 3_000],
    pause = [500, 1_500],
    patience = PATIENCE,
    onIllness,
  } = options;
  const random = new Random(seedOf(seed, -1));
  const drawn = order(options.kinds ?? (Object.keys(ILLNESSES) as IllnessName[]), random); // the keys of a record are its names
  const illnesses: IllnessRecord[] = [];
  const fleet = await ChaosFleet.start(options);
  try {
    await fleet.begin();
    const end = machineNow() + seconds * 1_000;
    await delay(WARM_UP);
    while (machineNow() < end) {
      const kind = drawn();
      const course = await ILLNESSES[kind](fleet, random.between(...length), random);
      const recovery = await fleet.recovered(illnesses.length, course.healed, patience);
      const record = { kind, ...course, recovery };
      illnesses.push(record);
      onIllness?.(record);
      await delay(random.between(...pause));
    }
    return { reports: await fleet.finish(), illnesses };
  } finally {
    await fleet.stop();
  }
}

/** Every kind once, then every kind again, in another order. */
function order(kinds: readonly IllnessName[], random: Random): () => IllnessName {
  const left: IllnessName[] = [];
  return () => {
    if (left.length === 0) left.push(...kinds);
    const kind = random.pick(left);
    left.splice(left.indexOf(kind), 1);
    return kind;
  };
}
