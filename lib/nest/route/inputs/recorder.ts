import type { ExecutionContext } from '@nestjs/common';
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
/** The same for everybody, whatever its name. */
const SESSION_STORE = 'sessionStore';

/**
 * A context whose request notes what is read of it: itself, its headers, and Fastify's `raw` request. Getters run on the real
 * request, so that only what the decorator asks for counts, and not what the platform reads for it.
 */
export class Recorder implements Reads {
  readonly context: ExecutionContext;
  private readonly stands = new Map<object, object>();
  private readonly originals = new Map<unknown, object>();
  private readonly headers = new Set<PropertyKey>();
  private hasReadAllHeaders = false;
  private hasReadCookies = false;
  private hasReadIdentity = false;

  constructor(context: ExecutionContext) {
    const [request, ...rest] = context.getArgs<unknown[]>();
    this.context = contextOf(context, [isObject(request) ? this.request(request) : request, ...rest]);
  }

  cover(credential: string): boolean {
    if (this.hasReadIdentity || this.hasReadAllHeaders || this.headers.has(credential)) return true;
    return credential === 'cookie' && this.hasReadCookies;
  }

  /** What the decorator returned, without this recorder's stand-ins. */
  result(value: unknown): { readonly value: unknown; readonly reads: Reads } {
    const original = this.originals.get(value);
    if (original === undefined) return { value, reads: this };
    Reflect.ownKeys(value as object); // a stand-in: headers or cookies that are returned are read as a whole
    return { value: original, reads: this };
  }

  private request(target: object): object {
    return this.standIn(target, {
      get: (_, property) => {
        const value: unknown = Reflect.get(target, property, target);
        // Nothing says nobody: what stands in for a missing user is the same for all.
        if (value === undefined || value === null) return value;
        if (isObject(value) && KEPT_BY_COOKIE.has(property)) return this.keptOf(value);
        this.note(property);
        if (!isObject(value)) return value;
        if (property === 'headers') return this.headersOf(value);
        return property === 'raw' ? this.request(value) : value;
      },
    });
  }

  private headersOf(target: object): object {
    return this.standIn(target, {
      get: (_, name) => {
        this.headers.add(name);
        return Reflect.get(target, name, target) as unknown;
      },
      ownKeys: () => {
        this.hasReadAllHeaders = true;
        return Reflect.ownKeys(target);
      },
    });
  }

  /** Cookies or a session: of all that they hold, what says who asks. */
  private keptOf(target: object): object {
    return this.standIn(target, {
      get: (_, name) => {
        const value: unknown = Reflect.get(target, name, target);
        const isNothing = value === undefined || value === null;
        if (!isNothing && (name === 'id' || saysWhoAsks(nameOf(name)))) this.hasReadCookies = true;
        return value;
      },
      ownKeys: () => {
        this.hasReadCookies = true;
        return Reflect.ownKeys(target);
      },
    });
  }

  private note(property: PropertyKey): void {
    if (property === SESSION_STORE) return;
    if (property === 'sessionID') this.hasReadCookies = true;
    else if (RAW_HEADERS.has(property)) this.hasReadAllHeaders = true;
    else if (saysWhoAsks(nameOf(property))) this.hasReadIdentity = true;
  }

  /** One for each object, so that what is equal stays equal. */
  private standIn(target: object, handler: ProxyHandler<object>): object {
    let stand = this.stands.get(target);
    if (stand === undefined) {
      stand = new Proxy(target, handler);
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
