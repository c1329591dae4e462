import type { ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import type { InputReader, InputReading } from '../../../../lib/nest/route/contracts.js';
import {
  resolveTransportInputs,
  type TransportHandler,
  type TransportKind,
} from '../../../../lib/nest/route/transports/index.js';

type Options = Partial<TransportHandler['http']> & { readonly warnings?: string[] };

/** What is resolved for a handler: a reader, or the error. */
export function resolve(
  kind: TransportKind,
  type: { prototype: object },
  method: string,
  options: Options = {},
) {
  const { warnings = [], ...http } = options;
  return resolveTransportInputs(kind, {
    prototype: type.prototype,
    method,
    http,
    where: `Host.${method}`,
    warn: (message) => warnings.push(message),
  });
}

export function readerOf(...args: Parameters<typeof resolve>): InputReader {
  const reader = resolve(...args);
  if (reader instanceof Error) throw reader;
  return reader;
}

export function problemOf(...args: Parameters<typeof resolve>): string {
  const error = resolve(...args);
  if (!(error instanceof Error)) throw new Error('there is no problem');
  return error.message;
}

export function contextOf(
  kind: string,
  args: unknown[],
  type?: { prototype: object },
  method = '',
): ExecutionContext {
  const handler = type && (Reflect.get(type.prototype, method) as () => unknown);
  const context = new ExecutionContextHost(args, type as never, handler);
  context.setType(kind);
  return context;
}

/** Reads at once: a reader of handlers without asynchronous decorators returns no promise. */
export function readNow(
  reader: InputReader,
  context: ExecutionContext,
  credentials: string[] = [],
): InputReading {
  const reading = reader.read(context, credentials);
  if (reading === undefined || reading instanceof Promise) throw new Error('there is no reading yet');
  return reading;
}

/** The last argument of a resolver, as far as it is looked at. */
export function infoOf(fieldName: string, parentType = 'Query', operation = 'query') {
  return { fieldName, parentType: { name: parentType }, operation: { operation } };
}
