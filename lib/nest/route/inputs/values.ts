import { ownCookie } from './cookies.js';
import type { DeclaredInput } from './declaration.js';
import { isObject, propertyOf, type RequestView } from './request-view.js';

/** Reads one input of a request, raw. */
export type ReadValue = (view: RequestView) => unknown;

/** Verifies signed cookies; what Nest 12 makes of `cookies: { secret }`. */
export interface CookieSigner {
  unsign(text: string): string | undefined;
}

/** The signer of the application, if it has one; asked at each request, since it comes with the bootstrap. */
export type FindSigner = () => CookieSigner | undefined;

/** How the value of a declared parameter is read: what Nest hands to the pipes. Custom decorators are not read here. */
export function valueReader({ kind, name }: DeclaredInput, findSigner: FindSigner): ReadValue {
  switch (kind) {
    case 'req':
      return ({ request }) => request;
    case 'res':
      return ({ context }) => context.getArgByIndex<unknown>(1);
    case 'next':
      return ({ context }) => context.getArgByIndex<unknown>(2);
    case 'param':
      return name === undefined ? whole('params') : paramReader(name);
    case 'query':
      return name === undefined ? (view) => view.query : queryReader(name);
    case 'headers':
      return name === undefined ? whole('headers') : headerReader(name.toLowerCase());
    case 'body':
      return name === undefined ? whole('body') : bodyReader(name);
    case 'host':
      return name === undefined
        ? ({ request }) => request['hosts'] || {}
        : ({ request }) => propertyOf(request['hosts'] || undefined, name);
    case 'cookies':
      return name === undefined ? (view) => view.cookies : cookieReader(name);
    case 'signedCookies':
      return signedCookieReader(name, findSigner);
    case 'session':
    case 'ip':
    case 'rawBody':
    case 'files':
      return whole(kind);
    case 'file':
      return whole(name ?? 'file');
    default:
      return () => null;
  }
}

function whole(property: string): ReadValue {
  return ({ request }) => request[property];
}

export function paramReader(name: string): ReadValue {
  return ({ request }) => propertyOf(request['params'], name);
}

export function queryReader(name: string): ReadValue {
  return (view) => propertyOf(view.query, name);
}

/** @param name in lower case */
export function headerReader(name: string): ReadValue {
  return ({ request }) => request.headers[name];
}

function cookieReader(name: string): ReadValue {
  return (view) => ownCookie(view.cookies, name);
}

export function sessionReader(name: string): ReadValue {
  return ({ request }) => propertyOf(request['session'], name);
}

/** Of an array, a buffer or a primitive Nest reads own members only, and a falsy body stands for each of its properties. */
export function bodyReader(name: string): ReadValue {
  return ({ request }) => {
    const body = request['body'];
    if (!body) return body;
    const isRecord = isObject(body) && !Array.isArray(body) && !ArrayBuffer.isView(body);
    return isRecord || Object.hasOwn(Object(body) as object, name) ? propertyOf(body, name) : undefined;
  };
}

/** Nothing where Nest would throw for want of a secret: the handler meets that by itself. */
function signedCookieReader(name: string | undefined, findSigner: FindSigner): ReadValue {
  return (view) => {
    const verified = verifiedCookies(view, findSigner());
    return name === undefined ? verified : ownCookie(verified, name);
  };
}

function verifiedCookies(view: RequestView, signer: CookieSigner | undefined): object {
  const verified = Object.create(null) as Record<string, unknown>; // a name may be any word
  const parsed = view.request['signedCookies'];
  const source = signer === undefined && isObject(parsed) ? parsed : view.sentCookies;
  if (signer === undefined && source !== parsed) return verified;
  for (const [name, value] of Object.entries(source) as [string, unknown][]) {
    // Without a signer a parser has verified it: false is its word for a wrong signature.
    const plain = signer === undefined ? value : signer.unsign(String(value));
    if (plain !== undefined && plain !== false) verified[name] = plain;
  }
  return verified;
}
