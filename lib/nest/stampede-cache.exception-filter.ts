import { type ArgumentsHost, Catch, type ExceptionFilter, HttpStatus, Logger } from '@nestjs/common';
import { type Observable, throwError } from 'rxjs';
import { reply } from './errors/reply.js';
import {
  publicMessage,
  retryAfterSeconds,
  Unavailable,
  type UnavailableError,
} from './errors/unavailable.js';
import { LOG_CONTEXT } from './stampede-cache.constants.js';

/** A shed request is nothing to write a line about each time, ms. */
const REPEAT_AFTER = 60_000;

interface Told {
  quietUntil: number;
  since: number;
}

/**
 * Answers `LoadTimeoutError`, `WaitTimeoutError`, `LoadRejectedError` and `CacheUnavailableError`; every other error stays
 * what it is without this filter. HTTP: 503 with `Retry-After` in seconds. GraphQL, RPC and WebSockets: `code` and
 * `retryAfter` in ms. What clients get names no method, key or server; the log has it, once a minute and code.
 *
 * `app.useGlobalFilters(new StampedeCacheExceptionFilter())`, `APP_FILTER`, or `@UseFilters(StampedeCacheExceptionFilter)`.
 */
@Catch(Unavailable)
export class StampedeCacheExceptionFilter implements ExceptionFilter<UnavailableError> {
  private readonly logger = new Logger(LOG_CONTEXT);
  private readonly told = new Map<string, Told>();

  /** Answers over HTTP and WebSockets, returns what RPC sends, throws what GraphQL reports. */
  catch(error: UnavailableError, host: ArgumentsHost): Observable<never> | void {
    this.tell(error);
    const { code, retryAfter } = error;
    const message = publicMessage(code);
    switch (host.getType<string>()) {
      case 'http':
        return reply(host.switchToHttp().getResponse<unknown>(), {
          status: HttpStatus.SERVICE_UNAVAILABLE,
          headers: { 'Retry-After': String(retryAfterSeconds(error)) },
          body: { statusCode: HttpStatus.SERVICE_UNAVAILABLE, message, error: 'Service Unavailable' },
        });
      case 'rpc':
        return throwError(() => ({ status: 'error', message, code, retryAfter }));
      case 'ws':
        // As Nest's own filter does it.
        host
          .switchToWs()
          .getClient<{ emit(event: string, data: object): unknown }>()
          .emit('exception', { status: 'error', message, code, retryAfter });
        return;
      case 'graphql':
        // GraphQL takes over the `extensions` of whatever was thrown.
        throw Object.assign(new Error(message, { cause: error }), { extensions: { code, retryAfter } });
      default:
        throw error;
    }
  }

  private tell({ code, message }: UnavailableError): void {
    const now = performance.now();
    const told = this.told.get(code) ?? { quietUntil: -Infinity, since: 0 };
    this.told.set(code, told);
    told.since += 1;
    if (now < told.quietUntil) return;
    const more = told.since > 1 ? ` (and ${told.since - 1} more since the last such line)` : '';
    this.logger.warn(`Answered with ${code}: ${message}${more}`);
    told.quietUntil = now + REPEAT_AFTER;
    told.since = 0;
  }
}
