import { saysWhoAsks } from '../inputs/identity.js';

/** Properties that lead on to the request of a call, and those that show all of its headers at once. */
const WAYS: ReadonlySet<string> = new Set(['req', 'request', 'raw', 'handshake', 'extra']);
const ALL_HEADERS: ReadonlySet<string> = new Set([
  'rawHeaders',
  'headersDistinct',
  'getHeaders',
  'getMap',
  'getMessage',
  'getPacket',
]);
const BY_NAME: ReadonlySet<string> = new Set(['get', 'header']);
const COOKIES: ReadonlySet<string> = new Set(['cookies', 'signedCookies', 'session']);

type Get = (name: string, value: unknown) => unknown;

/**
 * What a custom parameter decorator reads of the credentials of a call. It is handed stand-ins of the call's context; what
 * it reads in a way unknown here counts as not read, which leaves the call uncached.
 */
export class Recorder {
  private hasReadAll = false;
  private readonly names = new Set<string>();
  private readonly originals = new WeakMap<object, object>();
  private readonly headersProxies = new WeakSet<object>();

  covers(credential: string): boolean {
    return this.hasReadAll || this.names.has(credential);
  }

  /** A stand-in of a context, a request or a client; anything else is returned as it is. */
  watch(target: unknown): unknown {
    return this.proxy(target, (name, value) => this.readOfRequest(name, value, target));
  }

  /** What a decorator returned, without a stand-in; all headers as a whole tell everyone apart. */
  unwrap(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (this.headersProxies.has(value)) this.hasReadAll = true;
    return this.originals.get(value) ?? value;
  }

  private readOfRequest(name: string, value: unknown, target: unknown): unknown {
    if (name === 'headers') return this.watchHeaders(value);
    if (COOKIES.has(name)) return this.watchNamed(value);
    if (WAYS.has(name)) return this.watch(value);
    if (ALL_HEADERS.has(name) || saysWhoAsks(name)) this.hasReadAll ||= value !== undefined && value !== null;
    if (BY_NAME.has(name) && typeof value === 'function') return this.byName(value, target);
    return typeof value === 'function' ? (value.bind(target) as unknown) : value;
  }

  private watchHeaders(headers: unknown): unknown {
    const proxy = this.proxy(
      headers,
      (name, value) => {
        if (typeof value !== 'function') this.names.add(name.toLowerCase());
        else if (BY_NAME.has(name)) return this.byName(value, headers);
        else this.hasReadAll = true; // entries(), forEach()...
        return typeof value === 'function' ? (value.bind(headers) as unknown) : value;
      },
      () => (this.hasReadAll = true),
    );
    if (proxy !== headers) this.headersProxies.add(proxy as object); // only objects are proxied
    return proxy;
  }

  /** Cookies, or a session: one that says nothing of who asks covers nothing. */
  private watchNamed(holder: unknown): unknown {
    const mark = (): void => void this.names.add('cookie');
    const see: Get = (name, value) => {
      if (name === 'id' || saysWhoAsks(name)) mark();
      return typeof value === 'function' ? (value.bind(holder) as unknown) : value;
    };
    return this.proxy(holder, see, mark);
  }

  private byName(get: Function, target: unknown): (name: unknown) => unknown {
    return (name) => {
      this.names.add(String(name).toLowerCase());
      return get.call(target, name) as unknown;
    };
  }

  private proxy(target: unknown, get: Get, onAll: () => void = () => undefined): unknown {
    if (typeof target !== 'object' || target === null) return target;
    const proxy = new Proxy(target, {
      get: (_, property) => {
        // The original as the receiver: getters may need `#private` members.
        const value: unknown = Reflect.get(target, property, target);
        return typeof property === 'string' && !isFixed(target, property) ? get(property, value) : value;
      },
      ownKeys: () => {
        onAll();
        return Reflect.ownKeys(target);
      },
    });
    this.originals.set(proxy, target);
    return proxy;
  }
}

/** What a Proxy must show as it is. */
function isFixed(target: object, property: string): boolean {
  const descriptor = Object.getOwnPropertyDescriptor(target, property);
  return descriptor !== undefined && !descriptor.configurable && descriptor.writable === false;
}
