import { performance } from 'node:perf_hooks';
import type { Clock, Log, Runtime } from '../core/ports.js';
import { createRandom } from './random.js';
import { createTimers } from './timers.js';

export interface NodeRuntimeOptions {
  /** Where messages for operators go. */
  readonly log: Log;
}

/**
 * The runtime of a real process: monotonic time, Node's timers, chance.
 *
 * It holds on to Node's own functions rather than to the globals: fake timers that a test suite installs on the globals
 * neither stop nor move it.
 */
export function createNodeRuntime({ log }: NodeRuntimeOptions): Runtime {
  const clock: Clock = { now: () => performance.now() };
  return { clock, timers: createTimers(clock), random: createRandom(), log };
}
