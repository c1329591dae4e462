import { resolveTypes } from '../codec/index.js';
import { milliseconds } from '../duration.js';
import { ConfigurationError } from '../errors.js';
import { DEFAULT_POOL } from '../guard/index.js';
import { show } from '../show.js';
import { checkers, type Check } from './checks.js';
import { resolveCompress } from './compress-option.js';
import { tagIds } from '../tags.js';
import { matcherOf } from './error-matcher.js';
import type { Policy } from './policy.js';
import type { ResolvedPolicy } from './resolved-policy.js';

/** A policy of any value and arguments: its functions are called with what they were declared for. */
export type AnyPolicy = Omit<Policy<never, never>, 'fallback'> & {
  readonly fallback?: (error: unknown, ...args: never) => unknown;
};

const YEAR = 365 * 24 * 3_600_000;
const DEFAULT_NEGATIVE_TTL = 10_000;

/**
 * Validates `policy` over `defaults` and fills in what is missing.
 * @param where what the policy belongs to, for messages: `ProductsService.findOne`
 * @param warn takes advice about values that are allowed but probably not meant
 * @param alsoKnown options that stand beside the policy's, for messages
 * @throws ConfigurationError naming `where`, the option and the value received
 */
export function resolvePolicy(
  policy: AnyPolicy | undefined,
  defaults: AnyPolicy | undefined,
  where: string,
  warn: (message: string) => void = () => undefined,
  alsoKnown: readonly string[] = [],
): ResolvedPolicy {
  const given = merge(policy, defaults, where, alsoKnown);
  const check = checkers(given, where);
  const { ttl, ttlOf } = resolveTtl(given['ttl'], check, where, warn);
  const stale = check.duration('stale', 0);
  const staleIfError = check.duration('staleIfError', stale);
  const loadTimeout = check.positive('loadTimeout', 30_000);
  const softTimeout = check.optionalDuration('softTimeout');
  if (softTimeout !== undefined && staleIfError <= stale) {
    warn(
      `${where}: softTimeout has no effect unless staleIfError (${staleIfError} ms) is longer than stale (${stale} ms).`,
    );
  }
  const negativeTtl = check.duration('negativeTtl', DEFAULT_NEGATIVE_TTL);
  return {
    where,
    ttl,
    ttlOf,
    stale,
    staleIfError,
    negativeTtl: ttl === undefined ? negativeTtl : Math.min(negativeTtl, ttl),
    isNegative: check.fn('isNegative') ?? isNothing,
    isNegativeError: matcherOf(given['negativeErrors'], `${where}: negativeErrors`),
    cacheIf: check.fn('cacheIf'),
    jitter: resolveJitter(given['jitter'], where),
    earlyRefresh: resolveEarlyRefresh(given['earlyRefresh'], where),
    coordinate: check.oneOf('coordinate', ['fleet', 'process', 'none']),
    mayExist: check.fn('mayExist'),
    lease: check.positive('lease', 3_000),
    loadTimeout,
    softTimeout,
    waitTimeout: check.duration('waitTimeout', loadTimeout),
    onWaitTimeout: check.oneOf('onWaitTimeout', ['error', 'load']),
    abandon: check.oneOf('abandon', ['finish', 'abort']),
    failureBackoff: check.duration('failureBackoff', 1_000),
    onRedisDown: check.oneOf('onRedisDown', ['load', 'error']),
    fallback: check.fn('fallback'),
    onUncacheable: check.oneOf('onUncacheable', ['error', 'bypass']),
    tags: resolveTags(given['tags'], check, where),
    valueTags: check.fn('valueTags'),
    types: resolveTypesOf(given['type'], where),
    errors: check.classes('errors'),
    serializer: check.serializer('serializer'),
    shared: check.flag('shared'),
    compress: resolveCompress(given['compress'], where),
    l1: resolveL1(given['l1'], where),
    pool: check.text('pool', DEFAULT_POOL),
    vary: given['vary'],
  };
}

const KNOWN = new Set([
  ...[
    'ttl',
    'stale',
    'staleIfError',
    'negativeTtl',
    'isNegative',
    'negativeErrors',
    'cacheIf',
    'jitter',
    'earlyRefresh',
  ],
  ...[
    'coordinate',
    'mayExist',
    'lease',
    'loadTimeout',
    'softTimeout',
    'waitTimeout',
    'onWaitTimeout',
    'abandon',
  ],
  ...[
    'failureBackoff',
    'onRedisDown',
    'fallback',
    'onUncacheable',
    'tags',
    'valueTags',
    'type',
    'errors',
    'serializer',
    'shared',
    'compress',
    'l1',
    'pool',
    'vary',
  ],
]);

function merge(
  policy: AnyPolicy | undefined,
  defaults: AnyPolicy | undefined,
  where: string,
  alsoKnown: readonly string[],
): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const source of [defaults, policy]) {
    if (source === undefined) continue;
    if (typeof source !== 'object' || source === null) {
      throw new ConfigurationError(
        `${where}: a policy is an object such as { ttl: '60s' }, received ${show(source)}.`,
      );
    }
    for (const [name, value] of Object.entries(source)) {
      if (value === undefined) continue;
      checkName(name, value, where, alsoKnown);
      given[name] = value;
    }
  }
  return given;
}

function checkName(name: string, value: unknown, where: string, alsoKnown: readonly string[]): void {
  if (KNOWN.has(name)) return;
  throw new ConfigurationError(
    `${where}: unknown option ${show(name)} (${show(value)}). Known: ${[...alsoKnown, ...KNOWN].join(', ')}.`,
  );
}

function resolveTtl(
  ttl: unknown,
  check: Check,
  where: string,
  warn: (message: string) => void,
): Pick<ResolvedPolicy, 'ttl' | 'ttlOf'> {
  if (ttl === undefined) {
    throw new ConfigurationError(
      `${where}: ttl is missing. Give one here, or a default with forRoot({ policy: { ttl: '60s' } }).`,
    );
  }
  if (typeof ttl === 'function') return { ttl: undefined, ttlOf: check.fn('ttl') };
  const resolved = check.duration('ttl', 0);
  if (typeof ttl === 'number' && ttl > 0 && ttl < 1_000) {
    warn(`${where}: ttl ${ttl} is ${ttl} milliseconds; did you mean '${ttl}s'?`);
  }
  if (resolved > YEAR)
    warn(`${where}: ttl ${show(ttl)} is over a year; is the unit right? Numbers are milliseconds.`);
  return { ttl: resolved, ttlOf: undefined };
}

function resolveTags(tags: unknown, check: Check, where: string): ResolvedPolicy['tags'] {
  if (tags === undefined || typeof tags === 'function') return check.fn('tags');
  return tagIds(tags, `${where}: tags`);
}

function resolveJitter(jitter: unknown, where: string): ResolvedPolicy['jitter'] {
  if (jitter === undefined) return { share: 0.1 };
  if (typeof jitter === 'number' && jitter >= 0 && jitter <= 1) return { share: jitter };
  const upTo = typeof jitter === 'string' ? milliseconds(jitter) : undefined;
  if (upTo !== undefined) return { upTo };
  throw new ConfigurationError(
    `${where}: jitter is a fraction from 0 to 1 or a duration with its unit such as '5s', received ${show(jitter)}.`,
  );
}

function resolveEarlyRefresh(early: unknown, where: string): ResolvedPolicy['earlyRefresh'] {
  if (early === undefined) return { beta: 1 };
  if (early === 0) return undefined;
  if (typeof early === 'number' && Number.isFinite(early) && early > 0) return { beta: early };
  if (typeof early === 'object' && early !== null && 'window' in early) {
    const window = milliseconds(early.window);
    if (window !== undefined && window > 0) return { window };
  }
  throw new ConfigurationError(
    `${where}: earlyRefresh is a number >= 0 (XFetch's beta; 0 is off) or { window: '10s' }, received ${show(early)}.`,
  );
}

function resolveL1(l1: unknown, where: string): ResolvedPolicy['l1'] {
  if (l1 === undefined) return undefined;
  if (typeof l1 === 'boolean') return l1 ? Infinity : 0;
  if (typeof l1 === 'object' && l1 !== null && 'ttl' in l1) {
    const ttl = milliseconds(l1.ttl);
    if (ttl !== undefined && ttl > 0) return ttl;
  }
  throw new ConfigurationError(
    `${where}: l1 is true, false or { ttl: '5s' } with a duration above 0, received ${show(l1)}.`,
  );
}

function resolveTypesOf(type: unknown, where: string): ResolvedPolicy['types'] {
  if (type === undefined) return undefined;
  try {
    // resolveTypes validates what it is given; a policy from JavaScript can hold anything.
    return resolveTypes(type as Parameters<typeof resolveTypes>[0], `${where}: type`);
  } catch (error) {
    throw new ConfigurationError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function isNothing(value: unknown): boolean {
  return value === null || value === undefined;
}
