import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { ConfigurationError } from '../core/errors.js';
import { attach } from './cached/attachment.js';
import { classOf } from './cached/cached-methods.js';
import { describeMethod } from './cached/declaration.js';
import { attachEvictor } from './evict/eviction-attachment.js';
import {
  namesSharedOnPurpose,
  problemOf,
  sharedByInstances,
  sharedByModules,
  sharedNames,
  type Found,
} from './explore/checks.js';
import { hostsOf, type Host } from './explore/hosts.js';
import { exploreRoutes, type ExploredRoute } from './explore/routes.js';
import type { RouteHost } from './route/route-place.js';
import { describeCache, getStampedeCacheToken, LOG_CONTEXT } from './stampede-cache.constants.js';
import { CacheRegistry } from './stampede-cache.registry.js';
import { StampedeCacheService } from './stampede-cache.service.js';

/**
 * Finds every `@Cached` method and every eviction when the application starts: judges it, and gives what it needs to instances
 * without it.
 */
@Injectable()
export class StampedeCacheExplorer implements OnModuleInit {
  private readonly log = new Logger(LOG_CONTEXT);

  constructor(
    private readonly modules: ModulesContainer,
    private readonly moduleRef: ModuleRef,
    private readonly registry: CacheRegistry,
  ) {}

  async onModuleInit(): Promise<void> {
    this.registry.providersMade();
    try {
      this.explore();
    } catch (error) {
      await this.registry.closeAll();
      throw error;
    }
  }

  private explore(): void {
    const hosts = hostsOf(this.modules);
    const names = new Set(hosts.flatMap((host) => host.declarations.map(({ options }) => options?.cache)));
    const found: Found[] = [];
    const problems = [...names].flatMap((name) => this.exploreFor(name, hosts, found));
    problems.push(...this.exploreRoutes(found));
    problems.push(...this.exploreEvictions(hosts));
    if (problems.length === 0) return;
    // A broken target is told of at its own method; its evictions have nothing to add.
    throw new ConfigurationError([...new Set(problems)].join('\n'));
  }

  /** What is wrong with evictions. Their caches are known by now. */
  private exploreEvictions(hosts: readonly Host[]): readonly string[] {
    const { evictor } = this.registry;
    const evicting = hosts.filter(({ evictions }) => evictions.length > 0);
    for (const { instance } of evicting) if (instance) attachEvictor(instance, evictor);
    const classes = hosts.filter(({ declarations }) => declarations.length > 0);
    return evictor.check(
      evicting,
      classes.map(({ prototype }) => classOf(prototype)),
    );
  }

  /** What is wrong with the handlers that requests reach. `found`: the cached methods of all caches. */
  private exploreRoutes(found: readonly Found[]): readonly string[] {
    const { problems, advice, routes } = exploreRoutes(this.modules, this.registry.routes.plans);
    for (const message of advice) this.log.warn(message);
    const all = [...found, ...routes.map(asFound)];
    const caches = new Set(routes.map(({ plan }) => plan.cache.name));
    const clashes = [...caches].flatMap((cache) => {
      return sharedNames(all.filter(({ method }) => method.declaration.options.cache === cache));
    });
    return [...problems, ...clashes];
  }

  /** What is wrong with the methods of one cache. Those that can be used are added to `all`. */
  private exploreFor(cache: string | undefined, hosts: readonly Host[], all: Found[]): readonly string[] {
    const mine = hosts
      .map((host) => ({
        ...host,
        declarations: host.declarations.filter(({ options }) => options?.cache === cache),
      }))
      .filter(({ declarations }) => declarations.length > 0);
    if (!this.registry.isConfigured(cache)) return [missing(cache, mine)];
    const service: unknown = this.moduleRef.get(getStampedeCacheToken(cache), { strict: false });
    // A test may have put something else in its place.
    if (!(service instanceof StampedeCacheService)) return [];
    this.registry.use(cache, service);
    const problems: string[] = [];
    const found = mine.flatMap((host) => this.resolve(service, host, problems));
    problems.push(...sharedNames(found), ...sharedByInstances(found));
    all.push(...found);
    for (const host of mine) {
      service.methods.addHost(classOf(host.prototype), host.instance);
      if (host.instance) attach(host.instance, cache, service);
    }
    for (const message of [...namesSharedOnPurpose(found), ...sharedByModules(found)]) this.log.warn(message);
    return problems;
  }

  /** Requests come by the interceptor, which has rules of its own; calls of a handler by others are the exception. */
  private isRouted({ host, method: { declaration } }: Found): boolean {
    const handler: unknown = Reflect.get(host.prototype, declaration.method);
    if (!host.isController || typeof handler !== 'function') return false;
    const place = { host: classOf(host.prototype) as RouteHost, handler: handler as never };
    return this.registry.routes.plans.bindingOf(place).isBound;
  }

  private resolve(service: StampedeCacheService, host: Host, problems: string[]): readonly Found[] {
    return host.declarations.flatMap((declaration) => {
      try {
        const found = { host, method: service.methods.resolve(declaration, host.prototype) };
        const problem = this.isRouted(found) ? undefined : problemOf(found);
        if (problem !== undefined) problems.push(problem);
        return [found];
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        problems.push(error.message);
        return [];
      }
    });
  }
}

function missing(cache: string | undefined, hosts: readonly Host[]): string {
  const [host] = hosts;
  const where = host?.declarations[0]
    ? describeMethod(classOf(host.prototype), host.declarations[0].method)
    : '';
  const call =
    cache === undefined
      ? 'StampedeCacheModule.forRoot()'
      : `StampedeCacheModule.forRoot({ name: '${cache}' })`;
  return `${where}: @Cached uses ${describeCache(cache)}, which is not configured. Import ${call}.`;
}

/** A route among the cached methods, for what is judged of both. */
function asFound({ plan, prototype, module }: ExploredRoute): Found {
  const host = { token: prototype.constructor as never, module, isController: true, life: 'static' } as const;
  return {
    host: { ...host, instance: undefined, prototype, declarations: [], evictions: [] },
    method: plan.method,
  };
}
