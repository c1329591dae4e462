import type { EntryInfo } from 'nestjs-stampede-cache';
import { until } from '../../support/until.js';

type Look = () => Promise<EntryInfo | null>;

/** By how much an application may misjudge the server's clock after a few slow round trips, ms. */
const CLOCK_ERROR = 25;

/** Waits until the entry is past its ttl, by the store's clock and by every application's idea of it. */
export async function untilStale(look: Look): Promise<void> {
  let since: number | undefined;
  const isStale = async (): Promise<boolean> => {
    const entry = await look();
    if (entry === null) throw new Error('the entry has gone');
    if (entry.freshFor > 0) return false;
    since ??= entry.age;
    return entry.age >= since + CLOCK_ERROR;
  };
  await until(isStale, { what: 'the entry to go stale' });
}

/** Waits until the store has dropped the entry. */
export async function untilGone(look: Look): Promise<void> {
  await until(async () => (await look()) === null, { what: 'the entry to go' });
}

/** The error a promise rejects with. */
export async function errorOf(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  // By its shape: Node's own errors, such as an AbortError, come from outside Jest's realm.
  if ('error' in outcome && isError(outcome.error)) return outcome.error;
  throw new Error(`expected a rejection with an Error, got ${JSON.stringify(outcome)}`);
}

function isError(error: unknown): error is Error {
  return typeof error === 'object' && error !== null && 'name' in error && 'message' in error;
}

/** So many calls at once. */
export function times<T>(count: number, call: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => call(index)));
}
