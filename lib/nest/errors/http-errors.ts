import * as common from '@nestjs/common';
import type { FrameworkErrors } from '../../core/entry/index.js';

type HttpClass = { readonly prototype: common.HttpException };

/** What travels of an HttpException: what the client gets, and what it was. */
interface PackedHttp {
  /** The nearest class on its chain that @nestjs/common exports. */
  readonly as: string;
  readonly name: string;
  readonly message: string;
  readonly status: number;
  readonly response: unknown;
}

/** HttpExceptions travel between processes and into the cache by status and response. */
export const httpErrors: FrameworkErrors = {
  pack(error) {
    if (!isHttpException(error)) return undefined;
    return {
      as: exportedClassOf(error),
      name: error.name,
      message: error.message,
      status: error.getStatus(),
      response: plain(error.getResponse()),
    } satisfies PackedHttp;
  },

  unpack(data) {
    // What `pack` returned, possibly in another version: each field is looked at.
    const { as, name, message, status, response } = data as Partial<PackedHttp>;
    const known = typeof status === 'number' ? status : common.HttpStatus.INTERNAL_SERVER_ERROR;
    const isBody = typeof response === 'string' || (typeof response === 'object' && response !== null);
    const error = new common.HttpException(isBody ? response : {}, known);
    const exported = httpClass(as);
    // Its constructor would build the response anew.
    if (exported) Object.setPrototypeOf(error, exported.prototype);
    if (typeof message === 'string') error.message = message;
    if (typeof name === 'string') error.name = name;
    return error;
  },
};

/** By structure: an application can hold two copies of @nestjs/common. */
export function isHttpException(error: unknown): error is common.HttpException {
  if (error instanceof common.HttpException) return true;
  if (!(error instanceof Error)) return false;
  const { getStatus, getResponse } = error as Partial<common.HttpException>;
  return typeof getStatus === 'function' && typeof getResponse === 'function';
}

function exportedClassOf(error: object): string {
  for (let level: unknown = Object.getPrototypeOf(error); typeof level === 'object' && level !== null;) {
    const name = (level.constructor as { name?: string } | undefined)?.name ?? '';
    if (httpClass(name)) return name;
    level = Object.getPrototypeOf(level);
  }
  return 'HttpException';
}

function httpClass(name: unknown): HttpClass | undefined {
  if (typeof name !== 'string') return undefined;
  const found: unknown = (common as Readonly<Record<string, unknown>>)[name]; // a look at the exports by name
  if (typeof found !== 'function') return undefined;
  const isHttp = found === common.HttpException || found.prototype instanceof common.HttpException;
  return isHttp ? (found as unknown as HttpClass) : undefined; // just checked
}

/** As the client would get it: a response is sent as JSON. */
function plain(response: unknown): unknown {
  if (typeof response !== 'object' || response === null) return response;
  try {
    return JSON.parse(JSON.stringify(response)) as unknown;
  } catch {
    return {};
  }
}
