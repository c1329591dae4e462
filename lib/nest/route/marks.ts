import 'reflect-metadata';
import type { AnyPolicy } from '../../core/policy/index.js';
import type { HttpOptions } from '../interfaces/http-options.interface.js';

/** What `@CachedRoute` was given; judged when the application starts. */
export type RouteOptions = AnyPolicy & {
  readonly name?: string;
  readonly version?: string | number;
  readonly cache?: string;
  readonly when?: (...args: readonly unknown[]) => boolean;
  readonly http?: HttpOptions;
};

/** `Symbol.for`: another copy of this package finds them too. */
const ROUTE = Symbol.for('nestjs-stampede-cache.route');
const NO_CACHE = Symbol.for('nestjs-stampede-cache.no-cache');

/** `target` is a handler, or the class of a controller. */
export function markRoute(target: object, options: RouteOptions): void {
  Reflect.defineMetadata(ROUTE, options, target);
}

export function markNoCache(target: object): void {
  Reflect.defineMetadata(NO_CACHE, true, target);
}

export function isMarkedRoute(target: object): boolean {
  return Reflect.hasOwnMetadata(ROUTE, target);
}

/** The options of `@CachedRoute` on this handler or class; of a class, also those of the classes it extends. */
export function routeOptionsOf(target: object): RouteOptions | undefined {
  return Reflect.getMetadata(ROUTE, target) as RouteOptions | undefined; // only `markRoute` writes it
}

export function isNoCache(target: object): boolean {
  return Reflect.hasMetadata(NO_CACHE, target);
}
