import type { ServerResponse } from 'node:http';

export type Platform = 'express' | 'fastify';

/** A header's value as this package handles it; Node's numbers become text. */
export type HeaderValue = string | readonly string[];

/** What frameworks add while they send. To a handler that runs again after that, it isn't there. */
const ADDED_BY_SENDING = new Set([
  'connection',
  'content-length',
  'date',
  'etag',
  'keep-alive',
  'set-cookie',
  'transfer-encoding',
]);

/**
 * The response of one request, whichever framework sends it. What it overwrites is remembered: a background refresh runs the
 * handler against the response as it was before the answer. Names of headers are lower-case.
 */
export abstract class Reply {
  abstract readonly platform: Platform;
  /** Name and former value by turns: a handful of headers needs no map. */
  private readonly overwritten: (HeaderValue | undefined)[] = [];
  private formerStatus: number | undefined;

  constructor(
    /** What NestJS hands to handlers. */
    readonly response: object,
    /** Node's own response. */
    readonly raw: ServerResponse,
  ) {}

  /** Whether its head is out, or somebody else has taken it over. */
  get isOver(): boolean {
    return this.raw.headersSent || this.raw.writableEnded;
  }

  /** Whether it has its answer, sent or on its way: hooks may take their time. */
  get isAnswered(): boolean {
    return this.formerStatus !== undefined || this.isOver;
  }

  get status(): number {
    return this.raw.statusCode;
  }

  set status(status: number) {
    this.formerStatus ??= this.raw.statusCode;
    this.raw.statusCode = status;
  }

  /** The status before this one was set through here: the route's own default. */
  get statusBefore(): number {
    return this.formerStatus ?? this.raw.statusCode;
  }

  abstract get(name: string): HeaderValue | undefined;

  set(name: string, value: HeaderValue): void {
    this.remember(name);
    this.write(name, value);
  }

  remove(name: string): void {
    this.remember(name);
    this.erase(name);
  }

  /** The header as it was before it was written through here. */
  before(name: string): HeaderValue | undefined {
    const at = this.indexOf(name);
    if (at !== -1) return this.overwritten[at + 1];
    return this.isOver && ADDED_BY_SENDING.has(name) ? undefined : this.get(name);
  }

  /** The names of what {@link before} finds. */
  namesBefore(): string[] {
    const names = new Set(this.names());
    for (let at = 0; at < this.overwritten.length; at += 2) names.add(String(this.overwritten[at]));
    return [...names].filter((name) => this.before(name) !== undefined);
  }

  abstract write(name: string, value: HeaderValue): void;
  abstract erase(name: string): void;
  protected abstract names(): string[];

  private remember(name: string): void {
    // Sending sets it wherever it is missing.
    if (this.overwritten.length === 0) this.overwritten.push('content-type', this.get('content-type'));
    if (this.indexOf(name) === -1) this.overwritten.push(name, this.get(name));
  }

  private indexOf(name: string): number {
    for (let at = 0; at < this.overwritten.length; at += 2) if (this.overwritten[at] === name) return at;
    return -1;
  }
}

/** What Node or a framework keeps for a header, as text. */
export function asHeaderValue(value: HeaderValue | number | undefined): HeaderValue | undefined {
  if (typeof value === 'string' || value === undefined) return value;
  return typeof value === 'number' ? String(value) : value;
}
