import 'reflect-metadata';
import type { ModuleRef } from '@nestjs/core';
import type { CookieSigner } from './inputs/index.js';

/** Set on the prototype of the interceptor; `Symbol.for`: another copy of this package counts too. */
export const INTERCEPTOR: unique symbol = Symbol.for('nestjs-stampede-cache.interceptor') as never;

/** Nest's metadata of `@UseInterceptors`, on classes and handlers. Stable since Nest 4. */
const INTERCEPTORS = '__interceptors__';

/** How requests of a handler meet the interceptor. */
export interface Binding {
  readonly isBound: boolean;
  /** No other interceptor sees what it returns. */
  readonly isOutermost: boolean;
}

/** What of Nest's own configuration is needed. Reached by structure: there is no public way. */
export interface AppConfig {
  getGlobalInterceptors?(): readonly unknown[];
  getGlobalRequestInterceptors?(): readonly { readonly metatype?: unknown }[];
  getVersioning?(): unknown;
  getGlobalPrefix?(): string;
  getGlobalPrefixOptions?(): { readonly exclude?: readonly ExcludedRoute[] };
  /** Since Nest 12. */
  getCookieSigner?(): CookieSigner | undefined;
}

/** A route without the global prefix. */
interface ExcludedRoute {
  readonly pathRegex: RegExp;
  readonly requestMethod: number;
}

export function appConfigOf(moduleRef: ModuleRef): AppConfig | undefined {
  const { container } = moduleRef as unknown as {
    readonly container?: { readonly applicationConfig?: AppConfig };
  };
  return container?.applicationConfig;
}

/** In the order in which Nest runs them: global ones, those of the class, those of the handler. */
export function bindingOf(config: AppConfig | undefined, host: object, handler: object): Binding {
  const globals = [
    ...(config?.getGlobalInterceptors?.() ?? []),
    ...(config?.getGlobalRequestInterceptors?.() ?? []).map(({ metatype }) => metatype),
  ];
  const all = [...globals, ...listed(host), ...listed(handler)];
  const place = all.findIndex(isOurs);
  return { isBound: place >= 0, isOutermost: config !== undefined && place === 0 };
}

function listed(target: object): readonly unknown[] {
  const found: unknown = Reflect.getMetadata(INTERCEPTORS, target);
  return Array.isArray(found) ? (found as readonly unknown[]) : [];
}

/** A class or an instance. */
function isOurs(interceptor: unknown): boolean {
  const subject: unknown =
    typeof interceptor === 'function' ? (interceptor.prototype as unknown) : interceptor;
  return typeof subject === 'object' && subject !== null && INTERCEPTOR in subject;
}
