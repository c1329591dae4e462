import { HttpStatus } from '@nestjs/common';
import { isHttpException } from './http-errors.js';

/** Matches HttpExceptions that say "there is none", 404 and 410: `negativeErrors: notFound`. */
export function notFound(error: unknown): boolean {
  if (!isHttpException(error)) return false;
  const status: number = error.getStatus();
  return status === (HttpStatus.NOT_FOUND as number) || status === (HttpStatus.GONE as number);
}
