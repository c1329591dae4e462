import type { Advice } from '../advice.js';
import { UncacheableValue } from '../codec/index.js';
import { milliseconds } from '../duration.js';
import {
  drawLife,
  encodePayload,
  EncodedPayload,
  isFaithful,
  SharedPayload,
  type EntryKind,
  type ErrorTransport,
  type Life,
  type Payload,
  type PayloadAtRest,
  type StoredEntry,
} from '../entry/index.js';
import { encodeValue } from '../codec/index.js';
import { ConfigurationError, UncacheableValueError } from '../errors.js';
import type { ErrorNature } from '../flight/flight.js';
import type { LoadResult } from '../load/index.js';
import type { Random } from '../ports.js';
import type { Request } from '../request.js';
import { show } from '../show.js';
import { lateTags } from './late-tags.js';

interface PlannedValue {
  readonly kind: 'value';
  readonly payload: Payload;
  readonly store: Draft | undefined;
  /** Tags came to light only with the value. */
  readonly hasLateTags: boolean;
  /** Since when the value is current, epoch ms; undefined: since the load's end. */
  readonly asOf: number | undefined;
}

interface PlannedError {
  readonly kind: 'error';
  readonly error: unknown;
  readonly nature: ErrorNature;
  readonly store: Draft | undefined;
}

/** What a load's result is to its callers, and to the store. */
export type Plan = PlannedValue | PlannedError;

/** An entry that is to be written. */
export interface Draft {
  readonly kind: EntryKind;
  readonly payload: EncodedPayload;
  /** The payload's bytes as they are to be stored. Undefined: as they are. */
  readonly atRest?: PayloadAtRest;
  readonly life: Life;
  /** This entry stays as it is and gets a new life (`notModified`). */
  readonly kept: StoredEntry | undefined;
  /** Ids of the tags that were not known before the load. */
  readonly tags: readonly string[];
  /** Since when the value is current, epoch ms; undefined: since the load's end. */
  readonly asOf: number | undefined;
  readonly sourceVersion: number;
}

export interface Planning {
  readonly random: Random;
  readonly errors: ErrorTransport;
  readonly maxValueBytes: number;
  readonly advice: Advice;
}

type Loaded = Extract<LoadResult, { kind: 'value' | 'notModified' | 'error' }>;

/**
 * Decides what becomes of a load's result. `stale` is the entry that the load was to replace, `early` are the ids of the tags
 * known before it.
 */
export function planFor(
  result: Loaded,
  request: Request,
  stale: StoredEntry | undefined,
  early: readonly string[],
  by: Planning,
): Plan {
  try {
    const before = { request, stale, early };
    if (result.kind === 'error') return planError(result, before, by);
    return result.kind === 'notModified' ? planKept(result, before, by) : planValue(result, before, by);
  } catch (error) {
    // Whatever a user's object does when it is looked at: the load has ended, and its lease must too.
    const nature = error instanceof ConfigurationError ? 'final' : 'failure';
    return { kind: 'error', error, nature, store: undefined };
  }
}

/** What was there before the load. */
interface Before {
  readonly request: Request;
  readonly stale: StoredEntry | undefined;
  readonly early: readonly string[];
}

function planValue(
  { value, wishes }: Extract<Loaded, { kind: 'value' }>,
  { request, stale, early }: Before,
  by: Planning,
): Plan {
  const { policy } = request;
  const wanted = asUserSays(value, wishes.skip, wishes.ttl, request, by);
  let payload: EncodedPayload;
  const tags = lateTags(value, wishes, request, early, by.advice);
  const { asOf, sourceVersion } = wishes;
  const about = { hasLateTags: tags?.length !== 0, asOf };
  try {
    payload = encodePayload(value, policy);
  } catch (error) {
    return planUncacheable({ value, about }, error, wanted.ttl <= 0, request, by);
  }
  const life = fits(payload, request, by) ? lifeOf(wanted, request, stale, by) : undefined;
  const draft = { kind: wanted.kind, payload, kept: undefined, asOf, sourceVersion };
  const store = life && tags && { ...draft, life, tags };
  return { kind: 'value', payload, store, ...about };
}

function planKept(
  { wishes }: Extract<Loaded, { kind: 'notModified' }>,
  { request, stale, early }: Before,
  by: Planning,
): Plan {
  // The context gives the mark out only where a stale entry is held.
  const kept = stale as StoredEntry;
  const { payload, header } = kept;
  const value = payload.read(request.policy);
  const wanted = asUserSays(value, wishes.skip, wishes.ttl, request, by);
  const before = header.tags.map(({ id }) => id);
  const tags = lateTags(value, wishes, request, early, by.advice, before);
  const life = drawLife('value', wanted.ttl, request.policy, by.random.next());
  const sourceVersion = Math.max(wishes.sourceVersion, header.sourceVersion);
  const { asOf } = wishes;
  const draft = { kind: 'value', payload, kept, asOf, sourceVersion } as const;
  const store = life && tags && { ...draft, life, tags };
  return { kind: 'value', payload, store, hasLateTags: tags?.length !== 0, asOf };
}

/** How a value is to be kept. A ttl of 0 or less: not at all. */
export interface Wanted {
  readonly kind: EntryKind;
  readonly ttl: number;
}

/** "Not found" that is not kept must still end a stale value that says otherwise: it takes its place and is gone. */
const GONE: Life = { ttl: 1, hard: 1 };

function lifeOf(
  wanted: Wanted,
  { policy }: Request,
  stale: StoredEntry | undefined,
  by: Planning,
): Life | undefined {
  const life = drawLife(wanted.kind, wanted.ttl, policy, by.random.next());
  const contradicts = wanted.kind !== 'value' && wanted.ttl > 0 && stale?.header.kind === 'value';
  return life ?? (contradicts ? GONE : undefined);
}

/** The policy's functions about this value. One that throws, or answers nonsense, costs the entry, never the caller. */
export function asUserSays(
  value: unknown,
  skip: boolean,
  ttl: number | undefined,
  request: Request,
  by: Planning,
): Wanted {
  const { policy, args } = request;
  try {
    const kind = verdict(policy.isNegative(value), 'isNegative') ? 'negative' : 'value';
    const wanted = policy.cacheIf === undefined || verdict(policy.cacheIf(value), 'cacheIf');
    if (skip || !wanted) return { kind, ttl: 0 };
    if (ttl !== undefined) return { kind, ttl };
    if (policy.ttl !== undefined) return { kind, ttl: policy.ttl };
    const given = policy.ttlOf?.(value, ...args);
    const computed = milliseconds(given);
    if (computed !== undefined) return { kind, ttl: computed };
    by.advice.once(
      policy.where,
      'ttl',
      `${policy.where}: ttl() returned ${show(given)}, which is no duration. The value was not stored.`,
    );
    return { kind, ttl: 0 };
  } catch (error) {
    by.advice.once(
      policy.where,
      'policy',
      `${policy.where}: ttl, cacheIf or isNegative threw ${show(error)}. The value was not stored.`,
    );
    return { kind: 'value', ttl: 0 };
  }
}

/** @throws TypeError for a Promise, which is always truthy and would say the opposite of what it will resolve to */
function verdict(answer: unknown, name: string): boolean {
  if (typeof answer !== 'object' || answer === null || !('then' in answer)) return Boolean(answer);
  Promise.resolve(answer).catch(() => undefined);
  throw new TypeError(`${name} returned a Promise; it must answer at once`);
}

function planUncacheable(
  { value, about }: { readonly value: unknown; readonly about: Pick<PlannedValue, 'hasLateTags' | 'asOf'> },
  cause: unknown,
  unwanted: boolean,
  request: Request,
  by: Planning,
): Plan {
  const { policy } = request;
  const shared: Plan = { kind: 'value', payload: new SharedPayload(value), store: undefined, ...about };
  if (unwanted) return shared;
  const error = uncacheable(cause, policy.where);
  if (policy.onUncacheable === 'error') return { kind: 'error', error, nature: 'final', store: undefined };
  by.advice.once(
    policy.where,
    'uncacheable',
    `${error.message} It was delivered and not stored (onUncacheable: 'bypass').`,
  );
  return shared;
}

/** The public error for a value that has no faithful bytes. */
export function uncacheable(cause: unknown, where: string): UncacheableValueError {
  if (cause instanceof UncacheableValueError) return cause;
  if (!(cause instanceof UncacheableValue)) {
    return new UncacheableValueError(`${where}: the serializer failed with ${show(cause)}.`, '', { cause });
  }
  const at = cause.path === '' ? 'the value' : cause.path;
  return new UncacheableValueError(
    `${where}: ${at} is ${cause.what} and can't be cached. ${cause.fix}`,
    cause.path,
    { cause },
  );
}

function planError(
  { error, wishes }: Extract<Loaded, { kind: 'error' }>,
  { request, stale, early }: Before,
  by: Planning,
): Plan {
  const { policy } = request;
  if (!isAnswer(error, request, by)) return { kind: 'error', error, nature: 'failure', store: undefined };
  const answer = { kind: 'error', error, nature: 'answer', store: undefined } as const;
  const packed = by.errors.pack(error, policy.errors);
  const life = lifeOf({ kind: 'error', ttl: policy.ttl ?? Infinity }, request, stale, by);
  if (life === undefined) return answer;
  try {
    if (!isFaithful(packed)) throw new Error('neither an HttpException nor a class listed in `errors`');
    const { codec, bytes } = encodeValue(packed);
    const payload = new EncodedPayload(codec, bytes, undefined);
    const tags = lateTags(undefined, wishes, request, early, by.advice) ?? [];
    const { asOf, sourceVersion } = wishes;
    const store = { kind: 'error', payload, life, kept: undefined, tags, asOf, sourceVersion } as const;
    return { ...answer, store };
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    by.advice.once(
      policy.where,
      'negativeErrors',
      `${policy.where}: ${show(error)} matches negativeErrors and can't be restored (${why}). It is thrown and not stored.`,
    );
    return answer;
  }
}

function isAnswer(error: unknown, { policy }: Request, by: Planning): boolean {
  try {
    return policy.isNegativeError?.(error) ?? false;
  } catch (thrown) {
    by.advice.once(
      policy.where,
      'negativeErrors',
      `${policy.where}: negativeErrors threw ${show(thrown)}. The error was not stored.`,
    );
    return false;
  }
}

function fits(payload: EncodedPayload, { policy }: Request, by: Planning): boolean {
  if (payload.bytes.length <= by.maxValueBytes) return true;
  by.advice.once(
    policy.where,
    'maxValueBytes',
    `${policy.where}: a value of ${payload.bytes.length} bytes is over maxValueBytes (${by.maxValueBytes}). It was delivered and not stored.`,
  );
  return false;
}
