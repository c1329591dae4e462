import { ACQUIRE } from './acquire.js';
import { COMMIT } from './commit.js';
import { FACTS } from './facts.js';
import { INVALIDATE } from './invalidate.js';
import { PUT } from './put.js';
import { RELEASE } from './release.js';
import { RENEW } from './renew.js';
import type { Script } from './script.js';
import { TOUCH } from './touch.js';

export type { Script } from './script.js';
export { ACQUIRE, COMMIT, FACTS, INVALIDATE, PUT, RELEASE, RENEW, TOUCH };

/** Every script there is: the connection defines them all, a test checks them all. */
export const SCRIPTS: readonly Script[] = [ACQUIRE, COMMIT, FACTS, INVALIDATE, PUT, RELEASE, RENEW, TOUCH];
