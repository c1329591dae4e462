import type { InjectionToken } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { declarationsOf, type CachedDeclaration } from '../cached/declaration.js';
import { classOf } from '../cached/cached-methods.js';
import { evictionsOf, type EvictionDeclaration } from '../evict/eviction-declaration.js';

type NestModule = ReturnType<ModulesContainer['get']> & object;
type Wrapper = NestModule['providers'] extends Map<unknown, infer W> ? W : never;

/** How long an instance of a host lives: with the application, for one request, or for one consumer. */
export type Life = 'static' | 'request' | 'transient';

/** A provider or controller whose class has `@Cached` methods, or methods with evictions. */
export interface Host {
  readonly token: InjectionToken;
  readonly module: string;
  readonly isController: boolean;
  readonly life: Life;
  /** The one instance; of other lives there is none yet. */
  readonly instance: object | undefined;
  readonly prototype: object;
  readonly declarations: readonly CachedDeclaration[];
  readonly evictions: readonly EvictionDeclaration[];
}

/** Every host of an application, once per provider. */
export function hostsOf(modules: ModulesContainer): readonly Host[] {
  const hosts: Host[] = [];
  for (const module of modules.values()) {
    const collect = (wrappers: Iterable<Wrapper>, isController: boolean): void => {
      for (const wrapper of wrappers) {
        const host = readHost(wrapper, module.metatype?.name ?? 'an unnamed module', isController);
        if (host) hosts.push(host);
      }
    };
    collect(module.providers.values(), false);
    collect(module.injectables.values(), false);
    collect(module.controllers.values(), true);
  }
  return hosts;
}

function readHost(wrapper: Wrapper, module: string, isController: boolean): Host | undefined {
  const life = lifeOf(wrapper);
  const instance = life === 'static' ? instanceOf(wrapper) : undefined;
  const prototype = instance === undefined ? prototypeOf(wrapper) : prototypeOfInstance(instance);
  if (prototype === undefined) return undefined;
  const declarations = safely(() => declarationsOf(prototype)) ?? [];
  const evictions = safely(() => evictionsOf(prototype)) ?? [];
  if (declarations.length === 0 && evictions.length === 0) return undefined;
  return { token: wrapper.token, module, isController, life, instance, prototype, declarations, evictions };
}

/** What depends on the request lives as long, whatever it says of itself. */
function lifeOf(wrapper: Wrapper): Life {
  if (!wrapper.isDependencyTreeStatic()) return 'request';
  return wrapper.isTransient ? 'transient' : 'static';
}

function instanceOf(wrapper: Wrapper): object | undefined {
  const instance: unknown = wrapper.instance;
  return typeof instance === 'object' && instance !== null ? instance : undefined;
}

/** Of a provider that is a class; a factory's result is known only once it is made. */
function prototypeOf({ metatype, inject }: Wrapper): object | undefined {
  if (typeof metatype !== 'function' || (inject !== undefined && inject !== null)) return undefined;
  const prototype: unknown = metatype.prototype;
  return typeof prototype === 'object' && prototype !== null ? prototype : undefined;
}

function prototypeOfInstance(instance: object): object | undefined {
  return safely(() => (Object.getPrototypeOf(instance) as object | null) ?? undefined);
}

/** A value provider can be anything, also a Proxy that throws at each touch. */
function safely<R>(look: () => R): R | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

/** A host in messages. */
export function describeHost({ prototype, module }: Pick<Host, 'prototype' | 'module'>): string {
  return `${classOf(prototype).name} (in ${module})`;
}
