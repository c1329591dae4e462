import type { History } from '../history.js';
import { checkAcknowledgement } from './acknowledgement.js';
import { checkBounds } from './bounds.js';
import { checkCallers } from './callers.js';
import { checkCoherence } from './coherence.js';
import { checkFencing } from './fencing.js';
import { checkHoldOff } from './hold-off.js';
import { checkLoadGuard } from './load-guard.js';
import { Ruling } from './ruling.js';
import { checkSingleLoad } from './single-load.js';

export { Ruling, type Violation } from './ruling.js';

/** Judges a whole history by all rules. */
export function check(history: History): Ruling {
  const ruling = new Ruling();
  checkSingleLoad(history, ruling);
  checkFencing(history, ruling);
  checkCoherence(history, ruling);
  checkAcknowledgement(history, ruling);
  checkHoldOff(history, ruling);
  checkCallers(history, ruling);
  checkLoadGuard(history, ruling);
  checkBounds(history, ruling);
  return ruling;
}
