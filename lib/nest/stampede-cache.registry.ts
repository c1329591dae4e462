import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { ConfigurationError } from '../core/errors.js';
import type { StampedeCacheModuleOptions } from './interfaces/stampede-cache-module-options.interface.js';
import { CacheLink } from './cached/cache-link.js';
import type { CacheSetup, StoreFactory } from './cache-setup.js';
import { ManagedCache } from './managed-cache.js';
import { Evictor } from './evict/evictor.js';
import { INSPECT } from './inspect.js';
import { appConfigOf } from './route/binding.js';
import { Routes } from './route/routes.js';
import { differingOption } from './options/same-options.js';
import { CACHE_NAME, DEFAULT_NAMESPACE, describeCache, STORE_FACTORY } from './stampede-cache.constants.js';
import { StampedeCacheService } from './stampede-cache.service.js';
import { StartWatch } from './start-watch.js';

/** Every cache of one application, by name: however many modules configure it, a cache exists once. */
@Injectable()
export class CacheRegistry
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly setups = new Map<string | undefined, CacheSetup>();
  private readonly namespaces = new Map<string, string | undefined>();
  private readonly services = new Map<string | undefined, Promise<StampedeCacheService>>();
  private readonly links = new Map<string | undefined, CacheLink>();
  private readonly built = new Map<string | undefined, StampedeCacheService>();
  private readonly caches: ManagedCache[] = [];
  private announceDefault!: (setup: CacheSetup) => void;
  private readonly defaultSetup = new Promise<CacheSetup>((resolve) => (this.announceDefault = resolve));

  /** What hosts of evictions are injected with. */
  readonly evictor: Evictor = new Evictor({
    cacheOf: (name) => this.built.get(name),
    isConfigured: (name) => this.isConfigured(name),
  });

  /** What the interceptors share. */
  readonly routes: Routes;
  private readonly start: StartWatch;

  constructor(
    private readonly modules: ModulesContainer,
    moduleRef: ModuleRef,
    @Inject(STORE_FACTORY) private readonly createStore: StoreFactory,
  ) {
    this.start = new StartWatch(modules, () => this.closeAll());
    this.routes = new Routes({
      cacheOf: (name) => {
        const service = this.built.get(name);
        return service && { managed: service.calls.cache, methods: service.methods };
      },
      isConfigured: (name) => this.isConfigured(name),
      config: () => appConfigOf(moduleRef),
    });
  }

  /** Never the options of its caches: they may hold a password. */
  toJSON(): object {
    return { caches: this.caches.map((cache) => cache.toJSON()) };
  }

  [INSPECT](): string {
    return `StampedeCacheRegistry [${this.caches.map((cache) => cache[INSPECT]()).join(', ')}]`;
  }

  /**
   * Takes note of a cache.
   * @throws ConfigurationError if another one has its name or its namespace
   */
  async configure(name: string | undefined, options: StampedeCacheModuleOptions): Promise<CacheSetup> {
    const known = this.setups.get(name);
    if (known !== undefined) return sameSetup(known, options);
    const setup: CacheSetup = { name, options, namespace: this.namespaceOf(name, options) };
    this.setups.set(name, setup);
    if (name === undefined) this.announceDefault(setup);
    this.claim(await setup.namespace, name);
    return setup;
  }

  /** The one service of a cache. */
  serviceOf(setup: CacheSetup): Promise<StampedeCacheService> {
    const known = this.services.get(setup.name);
    if (known !== undefined) return known;
    const fresh = this.build(setup);
    this.services.set(setup.name, fresh);
    return fresh;
  }

  /** What hosts of cached methods are injected with, whether the cache is there already or not. */
  linkOf(name: string | undefined): CacheLink {
    const known = this.links.get(name);
    if (known !== undefined) return known;
    const fresh = new CacheLink();
    this.links.set(name, fresh);
    return fresh;
  }

  /** Lets everything that uses a cache of this name find it. */
  use(name: string | undefined, service: StampedeCacheService): void {
    this.built.set(name, service);
    this.linkOf(name).service = service;
  }

  isConfigured(name: string | undefined): boolean {
    return this.setups.has(name);
  }

  /** Every provider was made, no hook of another one has run yet. */
  providersMade(): void {
    // Only a connection can be left behind.
    if (this.caches.some((cache) => 'redis' in cache.options && cache.core.enabled)) this.start.made();
    else this.start.end();
  }

  /** As late as possible: a bootstrap that failed before has opened nothing. A call made earlier opens its own cache. */
  async onApplicationBootstrap(): Promise<void> {
    try {
      await Promise.all(this.caches.map((cache) => cache.start()));
    } catch (error) {
      await this.closeAll();
      throw error;
    }
  }

  beforeApplicationShutdown(): void {
    for (const cache of this.caches) cache.core.quiesce();
  }

  /** Here and not earlier: requests still run until Nest has disposed of its servers. */
  async onApplicationShutdown(): Promise<void> {
    await this.closeAll();
  }

  /** Gives back what the caches hold. */
  async closeAll(): Promise<void> {
    this.evictor.closed = true;
    this.start.end();
    await Promise.all(this.caches.map((cache) => cache.close()));
    this.routes.close();
  }

  private async build(setup: CacheSetup): Promise<StampedeCacheService> {
    const opening = (): void => this.start.opening();
    const cache = new ManagedCache(setup.name, setup.options, await this.createStore(setup), opening);
    this.caches.push(cache);
    const service = new StampedeCacheService(cache, this.evictor, this.routes);
    this.use(setup.name, service);
    return service;
  }

  private async namespaceOf(
    name: string | undefined,
    { namespace, ...options }: StampedeCacheModuleOptions,
  ): Promise<string> {
    if (namespace !== undefined) return namespace;
    const who = describeCache(name);
    if (name === undefined) {
      if (!('redis' in options)) return DEFAULT_NAMESPACE;
      throw new ConfigurationError(
        `${who}: namespace is required with redis. Give the first part of every key: namespace: 'shop'.`,
      );
    }
    if (!this.hasDefault()) {
      throw new ConfigurationError(
        `${who} has no namespace and there is no default cache to derive one from. Give it one: namespace: 'shop.${name}'.`,
      );
    }
    const base = await this.defaultSetup;
    if ('redis' in options && base.options.namespace === undefined) {
      throw new ConfigurationError(
        `${who}: namespace is required with redis, and the default cache has none to derive it from. Give it one: namespace: 'shop.${name}'.`,
      );
    }
    return `${await base.namespace}.${name}`;
  }

  /** Whether a module of this application configures the default cache, be it already or later. */
  private hasDefault(): boolean {
    return [...this.modules.values()].some(({ providers }) => {
      const marker = providers.get(CACHE_NAME);
      // The marker is this package's own.
      return marker !== undefined && (marker.instance as { name?: string } | undefined)?.name === undefined;
    });
  }

  private claim(namespace: string, name: string | undefined): void {
    if (!this.namespaces.has(namespace)) {
      this.namespaces.set(namespace, name);
      return;
    }
    throw new ConfigurationError(
      `${describeCache(this.namespaces.get(namespace))} and ${describeCache(name)} both have the namespace '${namespace}': they would answer for each other. Give each its own.`,
    );
  }
}

function sameSetup(known: CacheSetup, options: StampedeCacheModuleOptions): CacheSetup {
  const different = differingOption(known.options, options);
  if (different === undefined) return known;
  const who = describeCache(known.name);
  throw new ConfigurationError(
    `${who} is configured twice, and ${different} differs. Configure it once, or give the second cache a name: forRoot({ name: 'reports' }). Functions and instances count as equal only if they are the same one.`,
  );
}
