import 'reflect-metadata';
import type { ExecutionContext } from '@nestjs/common';
import { fieldCallOf } from './graphql.js';

/** Why a call goes straight to its handler. */
export type PassReason =
  'mutation' | 'subscription' | 'no operation' | 'event' | 'stream' | 'unknown transport';

/** `PatternHandler.MESSAGE` of `@nestjs/microservices`, under the key that its decorators write. */
const PATTERN_HANDLER = 'microservices:handler_type';
const MESSAGE_HANDLER = 1;

/**
 * Whether one call is of a sort that may be answered from the cache: `'yes'`, or why not. What must be marked where is for
 * whoever asks; of HTTP requests nothing is known here, so they are `'yes'`.
 */
export function mayCache(context: ExecutionContext): 'yes' | PassReason {
  switch (context.getType<string>()) {
    case 'http':
    case 'ws':
      return 'yes';
    case 'graphql':
      return mayCacheField(context.getArgs<unknown[]>());
    case 'rpc':
      return mayCacheMessage(context);
    default:
      return 'unknown transport';
  }
}

/** A field below a mutation shows what the mutation did, so the operation counts and not the field. */
function mayCacheField(args: readonly unknown[]): 'yes' | PassReason {
  switch (fieldCallOf(args).info?.operation.operation) {
    case 'query':
      return 'yes';
    case 'mutation':
      return 'mutation';
    case 'subscription':
      return 'subscription';
    default:
      return 'no operation';
  }
}

function mayCacheMessage(context: ExecutionContext): 'yes' | PassReason {
  const type: unknown = Reflect.getMetadata(PATTERN_HANDLER, context.getHandler());
  if (type !== MESSAGE_HANDLER) return 'event';
  const [payload] = context.getArgs<unknown[]>();
  return isStream(payload) ? 'stream' : 'yes';
}

/** What a client streams arrives as an Observable, or as the call itself, which is a Node stream. */
function isStream(payload: unknown): boolean {
  if (typeof payload !== 'object' || payload === null) return false;
  const { subscribe, pipe } = payload as { subscribe?: unknown; pipe?: unknown }; // any object may be asked
  return typeof subscribe === 'function' || typeof pipe === 'function';
}
