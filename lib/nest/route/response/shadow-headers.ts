import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { HeaderValue } from './reply.js';

/** Who keeps a header: Node's response, or Fastify's reply. */
export type Keeper = 'raw' | 'reply';

export interface ShadowHeader {
  /** As it was written. */
  readonly name: string;
  readonly value: HeaderValue;
  readonly keeper: Keeper;
}

/**
 * Headers as a handler wrote them, over those that were there before. Names are compared in lower case; null is a header that
 * was removed.
 */
export class ShadowHeaders {
  private readonly written = new Map<string, ShadowHeader | null>();

  /** Node's own refusals, at the same place: an invalid header must not get into an entry. */
  set(name: string, value: unknown, keeper: Keeper): void {
    validateHeaderName(name);
    // Node takes lists, its declaration doesn't.
    validateHeaderValue(name, value as string);
    this.written.set(name.toLowerCase(), { name, value: textOf(value), keeper });
  }

  remove(name: string): void {
    this.written.set(name.toLowerCase(), null);
  }

  /** Undefined: not touched. */
  get(name: string): ShadowHeader | null | undefined {
    return this.written.get(name.toLowerCase());
  }

  entries(): IterableIterator<[name: string, header: ShadowHeader | null]> {
    return this.written.entries();
  }
}

export function listOf(value: HeaderValue | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

function textOf(value: unknown): HeaderValue {
  return Array.isArray(value) ? value.map(String) : String(value);
}
