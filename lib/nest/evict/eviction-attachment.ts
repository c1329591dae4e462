import { attachedTo, attachTo, injectInto, type Attachable } from '../cached/attachment.js';
import { EVICTOR_TOKEN } from '../stampede-cache.constants.js';
import type { EvictionDeclaration } from './eviction-declaration.js';

/** How a method with evictions reaches its application, also with another copy of this package. */
export const EVICT: unique symbol = Symbol.for('nestjs-stampede-cache.evict') as never;

const PROPERTY = Symbol.for('nestjs-stampede-cache.evictor');

/** What a method with evictions needs of its application. */
export interface EvictionCaller extends Attachable {
  [EVICT](
    declaration: EvictionDeclaration,
    host: object,
    args: readonly unknown[],
    proceed: () => unknown,
  ): Promise<unknown>;
}

/** Lets Nest hand the application's evictor to every instance of the class. */
export function injectEvictor(prototype: object): void {
  injectInto(prototype, PROPERTY, EVICTOR_TOKEN);
}

export function evictorOf(instance: unknown): EvictionCaller | undefined {
  // Only evictors are attached to this property.
  return attachedTo(instance, PROPERTY) as EvictionCaller | undefined;
}

export function attachEvictor(instance: object, evictor: EvictionCaller): void {
  attachTo(instance, PROPERTY, evictor);
}
