import { Inject, Optional } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { getCacheLinkToken } from '../stampede-cache.constants.js';
import type { CachedDeclaration } from './declaration.js';

/** Marks a real service: a mock that answers every property is none. */
export const BRAND: unique symbol = Symbol.for('nestjs-stampede-cache.service') as never;
/** How a wrapped method reaches its cache, also that of another copy of this package. */
export const CALL: unique symbol = Symbol.for('nestjs-stampede-cache.call') as never;

/** What an instance can be attached to. */
export interface Attachable {
  readonly [BRAND]: true;
  /** After its end another application may take the instance over. */
  readonly closed: boolean;
}

/** What a wrapped method needs of a service. */
export interface CachedCaller extends Attachable {
  [CALL](declaration: CachedDeclaration, host: object, args: readonly unknown[]): unknown;
}

/**
 * What an instance is attached to, by property. The instances themselves stay untouched, frozen ones and their `Reflect.ownKeys`
 * included, and an instance that dies takes its line along.
 */
const attached = new WeakMap<object, Map<symbol, Attachable>>();
const madeByNest = new WeakSet<object>();

const NEST = Symbol.for('nestjs-stampede-cache.made-by-nest');

const propertyOf = (cache: string | undefined): symbol =>
  Symbol.for(`nestjs-stampede-cache.cache:${cache ?? ''}`);

/**
 * Lets Nest hand the cache to every instance of the class. Optional: without the module the instance comes up without one.
 */
export function injectCache(prototype: object, cache: string | undefined): void {
  injectInto(prototype, propertyOf(cache), getCacheLinkToken(cache));
}

/** Finds the service behind an instance's wrapped methods, if any. */
export function callerIn(cache: string | undefined): (instance: unknown) => CachedCaller | undefined {
  const property = propertyOf(cache);
  // Only services are attached to a property of this name.
  return (instance) => attachedTo(instance, property) as CachedCaller | undefined;
}

/** Attaches a service; one that is at work already keeps the instance. */
export function attach(instance: object, cache: string | undefined, service: unknown): void {
  attachTo(instance, propertyOf(cache), service);
}

export function isMadeByNest(instance: unknown): boolean {
  return typeof instance === 'object' && instance !== null && madeByNest.has(instance);
}

/** Lets Nest hand what `token` stands for to every instance of the class, if there is such a thing. */
export function injectInto(prototype: object, property: symbol, token: string): void {
  injectOnce(prototype, property, token, accept);
  // Always there for what Nest makes: tells a forgotten module from a plain `new` in a test.
  injectOnce(prototype, NEST, ModuleRef, (instance) => void madeByNest.add(instance));
}

export function attachedTo(instance: unknown, property: symbol): Attachable | undefined {
  if (typeof instance !== 'object' || instance === null) return undefined;
  return attached.get(instance)?.get(property);
}

export function attachTo(instance: object, property: symbol, value: unknown): void {
  // By property and not by the map above: the class may have been decorated by another copy of this package.
  Reflect.set(instance, property, value, instance);
}

function accept(instance: object, value: unknown, property: symbol): void {
  if (!isAttachable(value)) return;
  const known = attached.get(instance);
  if (known === undefined) return void attached.set(instance, new Map([[property, value]]));
  if (known.get(property)?.closed !== false) known.set(property, value);
}

function isAttachable(value: unknown): value is Attachable {
  return typeof value === 'object' && value !== null && (value as Partial<Attachable>)[BRAND] === true;
}

/** An accessor, so that nothing is written onto the instance; once on a chain, for `Inject` would add to it each time. */
function injectOnce(
  prototype: object,
  property: symbol,
  token: Parameters<typeof Inject>[0],
  take: (instance: object, value: unknown, property: symbol) => void,
): void {
  if (property in prototype) return;
  Object.defineProperty(prototype, property, {
    configurable: true,
    get: () => undefined,
    set(this: object, value: unknown) {
      take(this, value, property);
    },
  });
  Inject(token)(prototype, property);
  Optional()(prototype, property);
}
