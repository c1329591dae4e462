import { holdsAll, holdsKept, keepsWhoAsks } from '../inputs/holds.js';
import { saysWhoAsks } from '../inputs/identity.js';
import { isObject } from '../inputs/request-view.js';

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
 * it reads in a way unknown here counts as not read, which leaves the call uncached. Of what is looked through as a whole,
 * each member is read and none of them meant: then only what the decorator returns counts.
 */
export class Recorder {
  private hasReadIdentity = false;
  private hasSeenAllHeaders = false;
  private readonly names = new Set<string>();
  private readonly originals = new WeakMap<object, object>();
  private readonly seenWhole = new WeakSet<object>();
  /** What cookies or a session were read of. */
  private readonly keepers = new Set<object>();
  private returned: unknown;

  /** @param values of that credential, as the call carries it */
  covers(credential: string, values: () => readonly unknown[]): boolean {
    if (this.hasReadIdentity || this.names.has(credential)) return true;
    if (this.hasSeenAllHeaders && holdsAll(this.returned, values())) return true;
    if (credential !== 'cookie') return false;
    return [...this.keepers].some((keeper) => holdsKept(this.returned, keeper, this.seenWhole));
  }

  /** A stand-in of a context, a request or a client; anything else is returned as it is. */
  watch(target: unknown): unknown {
    return this.proxy(target, (name, value) => this.readOfRequest(name, value, target));
  }

  /** What a decorator returned, without a stand-in. A stand-in was seen as a whole. */
  unwrap(value: unknown): unknown {
    const original = isObject(value) ? this.originals.get(value) : undefined;
    if (original !== undefined) Reflect.ownKeys(value as object);
    this.returned = original ?? value;
    return this.returned;
  }

  private readOfRequest(name: string, value: unknown, target: unknown): unknown {
    if (name === 'headers') return this.watchHeaders(value);
    if (COOKIES.has(name)) return this.watchNamed(value, target);
    if (WAYS.has(name)) return this.watch(value);
    const isThere = value !== undefined && value !== null;
    if (ALL_HEADERS.has(name)) this.hasSeenAllHeaders ||= isThere;
    else if (isThere && saysWhoAsks(name) && !this.isSeenWhole(target)) this.hasReadIdentity = true;
    if (BY_NAME.has(name) && typeof value === 'function') return this.byName(value, target);
    return typeof value === 'function' ? (value.bind(target) as unknown) : value;
  }

  private watchHeaders(headers: unknown): unknown {
    const seeAll = (): void => void (this.hasSeenAllHeaders = true);
    const see: Get = (name, value) => {
      if (typeof value === 'function') {
        if (BY_NAME.has(name)) return this.byName(value, headers);
        seeAll(); // entries(), forEach()...
        return value.bind(headers) as unknown;
      }
      if (!this.isSeenWhole(headers)) this.names.add(name.toLowerCase());
      return value;
    };
    return this.proxy(headers, see, seeAll);
  }

  /** Cookies, or a session: one that says nothing of who asks covers nothing. */
  private watchNamed(holder: unknown, keeper: unknown): unknown {
    if (isObject(keeper)) this.keepers.add(keeper);
    return this.proxy(holder, (name, value) => {
      const isThere = value !== undefined && value !== null;
      if (isThere && keepsWhoAsks(name) && !this.isSeenWhole(holder)) this.names.add('cookie');
      return typeof value === 'function' ? (value.bind(holder) as unknown) : value;
    });
  }

  private isSeenWhole(holder: unknown): boolean {
    return isObject(holder) && this.seenWhole.has(holder);
  }

  private byName(get: Function, target: unknown): (name: unknown) => unknown {
    return (name) => {
      this.names.add(String(name).toLowerCase());
      return get.call(target, name) as unknown;
    };
  }

  private proxy(target: unknown, get: Get, onAll: () => void = () => undefined): unknown {
    if (!isObject(target)) return target;
    const proxy = new Proxy(target, {
      get: (_, property) => {
        // The original as the receiver: getters may need `#private` members.
        const value: unknown = Reflect.get(target, property, target);
        return typeof property === 'string' && !isFixed(target, property) ? get(property, value) : value;
      },
      ownKeys: () => {
        this.seenWhole.add(target);
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
