import type { ExecutionContext } from '@nestjs/common';
import { parseCookieHeader, type Cookies } from './cookies.js';

/** What is read of a request, whatever the platform; Nest hands out `undefined` for what is missing. */
export interface HttpRequest {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly [property: string]: unknown;
}

/** One request while its inputs are read: what is costly to read is read once. */
export class RequestView {
  readonly request: HttpRequest;
  private isQueryRead = false;
  private readQuery: unknown;
  private parsedHeader: Cookies | undefined;

  constructor(readonly context: ExecutionContext) {
    // Not switchToHttp(), which makes three functions each time.
    this.request = context.getArgByIndex<HttpRequest>(0);
  }

  /** Express parses it anew at each look. */
  get query(): unknown {
    if (!this.isQueryRead) {
      this.readQuery = this.request['query'];
      this.isQueryRead = true;
    }
    return this.readQuery;
  }

  /** As a parser left them, else those of the header. */
  get cookies(): object {
    const parsed = this.request['cookies'];
    return isObject(parsed) ? parsed : this.sentCookies;
  }

  /** Those of the header, signatures and all. */
  get sentCookies(): Cookies {
    return (this.parsedHeader ??= parseCookieHeader(this.request.headers['cookie']));
  }
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** As Nest reads a named value of params, query or session; undefined where there is nothing to read from. */
export function propertyOf(holder: unknown, name: string): unknown {
  return holder === undefined || holder === null
    ? undefined
    : (holder as Readonly<Record<string, unknown>>)[name]; // anything else can be asked
}
