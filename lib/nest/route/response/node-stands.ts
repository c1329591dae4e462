import { callBack, type PropertyStand, type Stand } from './override.js';
import type { ShadowResponse } from './shadow-response.js';

/** What `http.ServerResponse` does with headers, done to a shadow. Express' own methods are made of these. */
export const NODE_METHODS: Readonly<Record<string, Stand>> = {
  setHeader: (shadow, [name, value], target) => {
    shadow.set(String(name), value, 'raw');
    return target;
  },
  setHeaders: (shadow, [headers], target) => {
    setAll(shadow, headers as Iterable<readonly [string, unknown]>); // a Headers or a Map
    return target;
  },
  appendHeader: (shadow, [name, value], target) => {
    shadow.append(String(name), value, 'raw');
    return target;
  },
  getHeader: (shadow, [name]) => shadow.get(String(name)),
  getHeaders: (shadow) => headersObject(shadow),
  getHeaderNames: (shadow) => [...shadow.all().keys()],
  getRawHeaderNames: (shadow) => [...shadow.all().keys()],
  hasHeader: (shadow, [name]) => shadow.get(String(name)) !== undefined,
  removeHeader: (shadow, [name]) => shadow.remove(String(name)),
};

/** What sends, once the real response is over: as if it went out. */
export const NODE_SENDERS: Readonly<Record<string, Stand>> = {
  writeHead: (shadow, [status], target) => {
    shadow.status = Number(status);
    shadow.headersSent = true;
    return target;
  },
  write: (shadow, args) => {
    shadow.headersSent = true;
    callBack(args);
    return true;
  },
  end: (shadow, args, target) => {
    shadow.headersSent = shadow.ended = true;
    callBack(args);
    return target;
  },
  flushHeaders: (shadow) => {
    shadow.headersSent = true;
  },
  // Can't be kept in an entry.
  addTrailers: () => undefined,
};

export const NODE_PROPERTIES: Readonly<Record<string, PropertyStand>> = {
  statusCode: {
    get: (shadow) => shadow.status,
    set: (shadow, value) => {
      shadow.status = Number(value);
    },
  },
  statusMessage: {
    get: (shadow) => shadow.statusMessage,
    set: (shadow, value) => {
      // As Node declares it.
      shadow.statusMessage = value as string | undefined;
    },
  },
  headersSent: { get: (shadow) => shadow.headersSent },
  finished: { get: (shadow) => shadow.ended },
  writableEnded: { get: (shadow) => shadow.ended },
  writableFinished: { get: (shadow) => shadow.ended },
  // A client that is gone, or has its answer, is no reason for others' load to give up.
  destroyed: { get: () => false },
  closed: { get: () => false },
};

/** Null prototype and lower-case names, as Node gives them. */
export function headersObject(shadow: ShadowResponse): object {
  return Object.assign(Object.create(null), Object.fromEntries(shadow.all())) as object; // `any` by its declaration
}

/** Several cookies come one by one, and make one header. */
function setAll(shadow: ShadowResponse, headers: Iterable<readonly [string, unknown]>): void {
  const cookies: unknown[] = [];
  for (const [name, value] of headers) {
    if (name.toLowerCase() !== 'set-cookie') shadow.set(name, value, 'raw');
    else if (Array.isArray(value)) cookies.push(...(value as unknown[]));
    else cookies.push(value);
  }
  if (cookies.length > 0) shadow.set('set-cookie', cookies, 'raw');
}
