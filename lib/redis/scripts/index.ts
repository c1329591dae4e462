import { ACQUIRE } from './acquire.js';
import { ANNOUNCE } from './announce.js';
import { CLEAR } from './clear.js';
import { COMMIT } from './commit.js';
import { EXPIRE_TAG } from './expire-tag.js';
import { EXPIRE, STALE } from './expire.js';
import { FACTS } from './facts.js';
import { HOLD_TAG } from './hold-tag.js';
import { INVALIDATE_TAG } from './invalidate-tag.js';
import { INVALIDATE } from './invalidate.js';
import { PUT } from './put.js';
import { RAISE_EPOCHS } from './raise-epochs.js';
import { RELEASE } from './release.js';
import { RENEW } from './renew.js';
import { REVOKE } from './revoke.js';
import type { Script } from './script.js';
import { TOUCH } from './touch.js';

export type { Script } from './script.js';
export { ACQUIRE, COMMIT, EXPIRE, FACTS, INVALIDATE, PUT, RELEASE, RENEW, REVOKE, STALE, TOUCH };
export { ANNOUNCE, CLEAR, EXPIRE_TAG, HOLD_TAG, INVALIDATE_TAG, RAISE_EPOCHS };

const ENTRY = [ACQUIRE, COMMIT, EXPIRE, FACTS, INVALIDATE, PUT, RELEASE, RENEW, REVOKE, STALE, TOUCH];
const SHARED = [ANNOUNCE, CLEAR, EXPIRE_TAG, HOLD_TAG, INVALIDATE_TAG, RAISE_EPOCHS];

/** Every script there is: the connection defines them all, a test checks them all. */
export const SCRIPTS: readonly Script[] = [...ENTRY, ...SHARED];
