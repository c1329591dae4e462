import { types } from 'node:util';
import { StreamableFile } from '@nestjs/common';

/** That a handler answered with what only one client can read, as a message says it. Undefined: it did not. */
export function streamIn(value: unknown): string | undefined {
  const kind = kindOf(value);
  return kind && `the handler answered with ${kind}`;
}

function kindOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (value instanceof StreamableFile || isLikeStreamableFile(value)) return 'a StreamableFile';
  if (Object.prototype.toString.call(value) === '[object Response]') return 'a web Response';
  const { pipe, getReader, then } = value as Record<'pipe' | 'getReader' | 'then', unknown>; // any object may be asked
  if (typeof pipe === 'function' || typeof getReader === 'function') return 'a stream';
  return Symbol.asyncIterator in value && typeof then !== 'function' ? 'an async iterable' : undefined;
}

/** Returned, not thrown: what the client gets of it is up to the framework, and to the moment. */
export function isError(value: unknown): boolean {
  return value instanceof Error || types.isNativeError(value);
}

/** Of another copy of @nestjs/common. */
function isLikeStreamableFile(value: object): boolean {
  const { getStream, getHeaders } = value as Partial<StreamableFile>; // looked at by name
  return typeof getStream === 'function' && typeof getHeaders === 'function';
}

/** Gives back what a stream that nobody will read holds open. */
export function releaseBody(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const stream: unknown = value instanceof StreamableFile ? value.getStream() : value;
  const { destroy, cancel } = stream as Record<'destroy' | 'cancel', unknown>; // any object may be asked
  if (typeof destroy === 'function') destroy.call(stream);
  else if (typeof cancel === 'function') void Promise.resolve(cancel.call(stream)).catch(() => undefined);
}
