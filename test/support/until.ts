import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';

export interface UntilOptions {
  /** The longest to wait, in ms. Default 15000. */
  readonly timeout?: number;
  /** The pause between two looks, in ms. Default 2. */
  readonly every?: number;
  /** What is waited for; it stands in the error. */
  readonly what?: string;
}

/**
 * Waits until `look` returns something truthy, and returns that. It polls with real timers, so it belongs to tests of
 * processes and sockets, not to those that move a clock by hand. When the time is up it throws, with what `look`
 * returned or threw last.
 */
export async function until<T>(look: () => T | Promise<T>, options: UntilOptions = {}): Promise<T> {
  const { timeout = 15_000, every = 2, what = 'the condition' } = options;
  const end = performance.now() + timeout;
  for (;;) {
    const last = await attempt(look);
    if (last.value) return last.value;
    if (performance.now() >= end) throw timedOut(what, timeout, last);
    await delay(every);
  }
}

interface Attempt<T> {
  readonly value?: T;
  readonly error?: unknown;
}

async function attempt<T>(look: () => T | Promise<T>): Promise<Attempt<T>> {
  try {
    return { value: await look() };
  } catch (error) {
    return { error };
  }
}

function timedOut(what: string, timeout: number, last: Attempt<unknown>): Error {
  const seen = 'error' in last ? `threw ${inspect(last.error)}` : `returned ${inspect(last.value)}`;
  return new Error(`Waited ${timeout} ms for ${what}; the last look ${seen}`, { cause: last.error });
}
