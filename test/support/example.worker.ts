/** The worker module of processes.spec.ts. */
import type { Deferred } from './deferred.js';
import { deferred } from './deferred.js';

const state: { never?: Deferred<string>; interval?: NodeJS.Timeout } = {};

export const add = (a: number, b: number): number => a + b;

export const index = (): string | undefined => process.env['WORKER_INDEX'];

export const greeting = (): string | undefined => process.env['GREETING'];

export const startedAt = (): bigint => process.hrtime.bigint();

export const sameType = (value: Map<string, Date>): Map<string, Date> => value;

export function fail(): never {
  throw Object.assign(new TypeError('no such product'), { code: 'E_NO_PRODUCT' });
}

export async function waitForever(): Promise<string> {
  state.never = deferred<string>();
  process.stderr.write('waiting\n');
  return state.never.promise;
}

export function leak(): void {
  state.interval = setInterval(() => undefined, 1_000);
}

export function exit(code: number): void {
  process.stderr.write('the end\n');
  process.exit(code);
}

export function shutdown(): void {
  process.stderr.write('shutdown\n');
}
