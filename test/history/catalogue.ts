import type { AnyPolicy } from '../../lib/core/policy/index.js';

/** The numbers of a policy as the checker needs them, in ms. */
export interface Terms {
  readonly ttl: number;
  readonly stale: number;
  readonly staleIfError: number;
  readonly lease: number;
  readonly loadTimeout: number;
  readonly waitTimeout: number;
  readonly softTimeout?: number;
  readonly onWaitTimeout?: 'error' | 'load';
  readonly abandon?: 'finish' | 'abort';
  readonly failureBackoff?: number;
  /** Known before the load. */
  readonly tags?: readonly string[];
  /** Known after it. */
  readonly valueTags?: readonly string[];
}

export type Catalogue = Readonly<Record<string, Terms>>;

const BASE: Terms = { ttl: 120, stale: 0, staleIfError: 0, lease: 240, loadTimeout: 500, waitTimeout: 500 };

const KINDS: Catalogue = {
  plain: BASE,
  lasting: { ...BASE, ttl: 600 },
  stale: { ...BASE, ttl: 60, stale: 300, staleIfError: 600, failureBackoff: 100 },
  failsafe: { ...BASE, ttl: 50, staleIfError: 800, failureBackoff: 50 },
  soft: { ...BASE, ttl: 50, stale: 50, staleIfError: 800, softTimeout: 20, failureBackoff: 50 },
  abort: { ...BASE, ttl: 60, abandon: 'abort' },
  impatient: { ...BASE, ttl: 60, waitTimeout: 60, onWaitTimeout: 'load' },
  hasty: { ...BASE, ttl: 60, loadTimeout: 60 },
};

const TAGGED: Catalogue = {
  tagged: { ...BASE, ttl: 800, tags: ['a', 'b'] },
  valueTagged: { ...BASE, ttl: 800, valueTags: ['a'] },
  mixed: { ...BASE, ttl: 300, stale: 300, staleIfError: 300, tags: ['b'], valueTags: ['c'] },
};

/** Nothing ends by itself while a directed schedule is under way. */
const PATIENT: Terms = {
  ttl: 60_000,
  stale: 0,
  staleIfError: 0,
  lease: 10_000,
  loadTimeout: 20_000,
  waitTimeout: 20_000,
};

/** The keys of the directed schedules, see directed.ts. */
export const DIRECTED: Catalogue = {
  revoked: PATIENT,
  joined: PATIENT,
  sealed: PATIENT,
  tagged: { ...PATIENT, tags: ['shelf'] },
  taggedLong: { ...PATIENT, tags: ['shop'] },
  valueTagged: { ...PATIENT, valueTags: ['shade'] },
  softTag: { ...PATIENT, tags: ['soft'] },
  softLateTag: { ...PATIENT, valueTags: ['softLate'] },
  lender: PATIENT,
  lent: { ...PATIENT, ttl: 5, staleIfError: 60_000, softTimeout: 30 },
  blind: PATIENT,
  clearedAway: PATIENT,
  cleared: PATIENT,
  shared: PATIENT,
  held: { ...PATIENT, ttl: 5, staleIfError: 60_000 },
  late: PATIENT,
  busy: PATIENT,
};

/** Which keys a random schedule uses and under which policy: two of each kind. Few keys are hot keys. */
export function catalogue(): Catalogue {
  const kinds = { ...KINDS, ...TAGGED };
  return Object.fromEntries(
    Object.entries(kinds).flatMap(([name, terms]) => [1, 2].map((number) => [`${name}-${number}`, terms])),
  );
}

/** The policy that says the same. */
export function policyOf(terms: Terms): AnyPolicy {
  const { tags, valueTags, ...rest } = terms;
  return {
    ...rest,
    ...(tags && { tags: [...tags] }),
    ...(valueTags && { valueTags: () => [...valueTags] }),
  } as AnyPolicy; // numbers are durations
}

export const tagsOf = ({ tags = [], valueTags = [] }: Terms): readonly string[] => [...tags, ...valueTags];
