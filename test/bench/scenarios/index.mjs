import { avalanche } from './avalanche.mjs';
import { batch } from './batch.mjs';
import { coldFleet, coldProcess } from './burst.mjs';
import { crash } from './crash.mjs';
import { expiry } from './expiry.mjs';
import { hot } from './hot.mjs';
import { illness } from './illness.mjs';
import { near } from './near.mjs';
import { uniform } from './uniform.mjs';

/** In the order of the page. Those with the most processes stand together: one's serve the next. */
export const SCENARIOS = [
  hot,
  uniform,
  near,
  coldProcess,
  coldFleet,
  expiry,
  avalanche,
  crash,
  illness,
  batch,
];
