import { toMilliseconds, type Duration } from '../duration.js';
import { ConfigurationError } from '../errors.js';
import type { KeyPart } from '../keys/index.js';
import { show } from '../show.js';

/** What one call asks for, on top of its policy. */
export interface CallOptions {
  /** Rejects this caller alone when it aborts; the load goes on for the others. */
  readonly signal?: AbortSignal;
  /** Waits for a load begun after the call. */
  readonly fresh?: boolean;
  /** Takes no value staler than this, whatever the policy allows. */
  readonly maxStale?: Duration;
  /** Straight to the origin: nothing is read or stored. */
  readonly bypass?: boolean;
  /** A key part instead of the module's `vary`; `false` opts out. */
  readonly vary?: KeyPart | false;
}

export interface ResolvedCall {
  readonly signal: AbortSignal | undefined;
  readonly fresh: boolean;
  readonly maxStale: number;
  readonly bypass: boolean;
  readonly vary: unknown;
}

export const PLAIN_CALL: ResolvedCall = {
  signal: undefined,
  fresh: false,
  maxStale: Infinity,
  bypass: false,
  vary: undefined,
};

const KNOWN = new Set(['signal', 'fresh', 'maxStale', 'bypass', 'vary']);

/**
 * Validates one call's options over those around it (`with`).
 * @throws ConfigurationError naming the option and the value received
 */
export function resolveCall(call: CallOptions | undefined, around: ResolvedCall = PLAIN_CALL): ResolvedCall {
  if (call === undefined) return around;
  if (typeof call !== 'object' || call === null) {
    throw new ConfigurationError(
      `Call options are an object such as { fresh: true }, received ${show(call)}.`,
    );
  }
  const unknown = Object.keys(call).find((name) => !KNOWN.has(name));
  if (unknown !== undefined) {
    throw new ConfigurationError(
      `Call options: unknown option ${show(unknown)}. Known: ${[...KNOWN].join(', ')}.`,
    );
  }
  const { signal, maxStale } = call;
  if (signal !== undefined && !isSignal(signal)) {
    throw new ConfigurationError(`Call options: signal is an AbortSignal, received ${show(signal)}.`);
  }
  return {
    signal: signal ?? around.signal,
    fresh: flag(call, 'fresh') ?? around.fresh,
    maxStale: maxStale === undefined ? around.maxStale : toMilliseconds(maxStale, 'Call options: maxStale'),
    bypass: flag(call, 'bypass') ?? around.bypass,
    vary: call.vary === undefined ? around.vary : call.vary,
  };
}

function flag(call: CallOptions, name: 'fresh' | 'bypass'): boolean | undefined {
  const value = call[name];
  if (value === undefined || typeof value === 'boolean') return value;
  throw new ConfigurationError(`Call options: ${name} is true or false, received ${show(value)}.`);
}

function isSignal(signal: unknown): boolean {
  return typeof signal === 'object' && signal !== null && 'aborted' in signal && 'addEventListener' in signal;
}
