import type { ExecutionContext } from '@nestjs/common';
import { holdsAll, holdsKept, keepsWhoAsks } from './holds.js';
import { saysWhoAsks } from './identity.js';
import { isObject } from './request-view.js';

/** What was read of a request that may tell who asks. */
export interface Reads {
  /** Whether it tells whom this credential header stands for. @param credential in lower case */
  cover(credential: string): boolean;
}

/** All headers in a form of their own. */
const RAW_HEADERS: ReadonlySet<PropertyKey> = new Set(['rawHeaders', 'headersDistinct']);
/** What the `cookie` header leads to, by name. */
const KEPT_BY_COOKIE: ReadonlySet<PropertyKey> = new Set(['cookies', 'signedCookies', 'session']);

type Holder = Readonly<Record<PropertyKey, unknown>>;

/**
 * A context whose request notes what is read of it: itself, its headers, and Fastify's `raw` request. Getters run on the real
 * request, so that only what the decorator asks for counts, and not what the platform reads for it. Of what is looked through
 * as a whole, each member is read and none of them meant: then only what the decorator returns counts.
 */
export class Recorder implements Reads {
  readonly context: ExecutionContext;
  private readonly stands = new Map<object, object>();
  private readonly originals = new Map<unknown, object>();
  private readonly seenWhole = new Set<object>();
  private readonly headers = new Set<PropertyKey>();
  private readonly source: Holder | undefined;
  private hasSeenAllHeaders = false;
  private hasReadCookies = false;
  private hasReadIdentity = false;
  private returned: unknown;

  constructor(context: ExecutionContext) {
    const [request, ...rest] = context.getArgs<unknown[]>();
    this.source = isObject(request) ? (request as Holder) : undefined; // any object may be asked
    this.context = contextOf(context, [isObject(request) ? this.request(request) : request, ...rest]);
  }

  cover(credential: string): boolean {
    if (this.hasReadIdentity || this.headers.has(credential)) return true;
    if (this.hasSeenAllHeaders && this.returnsHeader(credential)) return true;
    return credential === 'cookie' && (this.hasReadCookies || this.returnsKept());
  }

  /** What the decorator returned, without this recorder's stand-ins. */
  result(value: unknown): { readonly value: unknown; readonly reads: Reads } {
    // A stand-in: headers or cookies that are returned are seen as a whole.
    if (this.originals.has(value)) Reflect.ownKeys(value as object);
    this.returned = this.originals.get(value) ?? value;
    return { value: this.returned, reads: this };
  }

  private request(target: object): object {
    return this.standIn(target, (property, value) => {
      // Nothing says nobody: what stands in for a missing user is the same for all.
      if (value === undefined || value === null) return value;
      if (isObject(value) && KEPT_BY_COOKIE.has(property)) return this.keptOf(value);
      if (!this.seenWhole.has(target)) this.note(property);
      if (!isObject(value)) return value;
      if (property === 'headers') return this.headersOf(value);
      return property === 'raw' ? this.request(value) : value;
    });
  }

  private headersOf(target: object): object {
    const onWhole = (): void => void (this.hasSeenAllHeaders = true);
    return this.standIn(
      target,
      (name, value) => {
        if (!this.seenWhole.has(target)) this.headers.add(name);
        return value;
      },
      onWhole,
    );
  }

  /** Cookies or a session: of all that they hold, what says who asks. */
  private keptOf(target: object): object {
    return this.standIn(target, (name, value) => {
      const isNothing = value === undefined || value === null || this.seenWhole.has(target);
      if (!isNothing && keepsWhoAsks(nameOf(name))) this.hasReadCookies = true;
      return value;
    });
  }

  private note(property: PropertyKey): void {
    if (property === 'sessionID') this.hasReadCookies = true;
    else if (RAW_HEADERS.has(property)) this.hasSeenAllHeaders = true;
    else if (saysWhoAsks(nameOf(property))) this.hasReadIdentity = true;
  }

  private returnsHeader(credential: string): boolean {
    const headers = this.source?.['headers'];
    return isObject(headers) && holdsAll(this.returned, [(headers as Holder)[credential]]);
  }

  private returnsKept(): boolean {
    return this.source !== undefined && holdsKept(this.returned, this.source, this.seenWhole);
  }

  /** One for each object, so that what is equal stays equal. */
  private standIn(
    target: object,
    see: (property: PropertyKey, value: unknown) => unknown,
    onWhole: () => void = () => undefined,
  ): object {
    let stand = this.stands.get(target);
    if (stand === undefined) {
      stand = new Proxy(target, {
        get: (_, property) => see(property, Reflect.get(target, property, target)),
        ownKeys: () => {
          this.seenWhole.add(target);
          onWhole();
          return Reflect.ownKeys(target);
        },
      });
      this.stands.set(target, stand);
      this.originals.set(stand, target);
    }
    return stand;
  }
}

function nameOf(property: PropertyKey): string {
  return typeof property === 'symbol' ? (property.description ?? '') : String(property);
}

/** The same context over other arguments. */
function contextOf(context: ExecutionContext, args: readonly unknown[]): ExecutionContext {
  const at = (index: number) => (): unknown => args[index];
  const over = Object.create(context) as ExecutionContext; // what is not replaced below is inherited
  return Object.assign(over, {
    args,
    getArgs: () => args,
    getArgByIndex: (index: number) => args[index],
    switchToHttp: () => Object.assign(over, { getRequest: at(0), getResponse: at(1), getNext: at(2) }),
  }) as ExecutionContext; // the caller of a context chooses the types of what it returns
}
