import type { Class } from '../codec/index.js';
import { RemoteLoadError } from '../errors.js';

/** An error on its way to another process, or into the cache. */
export type PackedError =
  | { readonly as: 'framework'; readonly data: unknown }
  | {
      readonly as: 'class';
      readonly name: string;
      readonly message: string;
      readonly own: Readonly<Record<string, unknown>>;
    }
  | { readonly as: 'remote'; readonly name: string; readonly code: string | undefined };

/** How errors of the framework around the core travel: Nest's HttpExceptions by status and response. */
export interface FrameworkErrors {
  /** Plain data for an error it knows, else undefined. */
  pack(error: unknown): unknown;
  unpack(data: unknown): Error;
}

const STANDARD = new Set(['message', 'stack', 'cause']);

/** Packs and restores errors. What nobody knows travels as its name and code, without message and stack. */
export class ErrorTransport {
  constructor(private readonly framework: FrameworkErrors | undefined) {}

  /** `classes`: those the policy lists in `errors`. An error that can't be read travels as its bare kind. */
  pack(error: unknown, classes: readonly Class[]): PackedError {
    try {
      return this.packFaithfully(error, classes);
    } catch {
      return { as: 'remote', name: 'Error', code: undefined };
    }
  }

  private packFaithfully(error: unknown, classes: readonly Class[]): PackedError {
    const data = this.framework?.pack(error);
    if (data !== undefined) return { as: 'framework', data };
    const known = classes.find((one) => error instanceof Error && error.constructor === one);
    if (known && error instanceof Error) {
      const own = Object.fromEntries(Object.entries(error).filter(([name]) => !STANDARD.has(name)));
      return { as: 'class', name: known.name, message: error.message, own };
    }
    return { as: 'remote', name: nameOf(error), code: codeOf(error) };
  }

  /** `where` names the load in a RemoteLoadError's message. */
  unpack(packed: PackedError, classes: readonly Class[], where: string): Error {
    if (packed.as === 'framework' && this.framework) return this.framework.unpack(packed.data);
    const known = packed.as === 'class' ? classes.find((one) => one.name === packed.name) : undefined;
    if (packed.as === 'class' && known) return restore(known, packed);
    const { name, code } =
      packed.as === 'framework'
        ? { name: 'Error', code: undefined }
        : { name: packed.name, code: codeOf(packed) };
    const described = code === undefined ? name : `${name} (${code})`;
    return new RemoteLoadError(
      `${where}: the load failed in another process with ${described}; that process knows the details.`,
      name,
      code,
    );
  }
}

/** Whether packing kept everything that matters about the error. */
export function isFaithful(packed: PackedError): boolean {
  return packed.as !== 'remote';
}

/** Restores without calling the constructor: it may want arguments that are not known. */
function restore(known: Class, packed: Extract<PackedError, { as: 'class' }>): Error {
  // `known.prototype` is an Error's: only those were packed as a class.
  const error = Object.create(known.prototype as object) as Error;
  const hidden = (value: unknown): PropertyDescriptor => ({
    value,
    writable: true,
    configurable: true,
    enumerable: false,
  });
  Object.defineProperty(error, 'message', hidden(packed.message));
  for (const [name, value] of Object.entries(packed.own)) {
    Object.defineProperty(error, name, { value, writable: true, configurable: true, enumerable: true });
  }
  Error.captureStackTrace(error, restore);
  return error;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' || typeof code === 'number' ? String(code) : undefined;
}
