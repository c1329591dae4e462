import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import { ConfigurationError } from '../core/errors.js';
import { attach } from './cached/attachment.js';
import { classOf } from './cached/cached-methods.js';
import { describeMethod } from './cached/declaration.js';
import {
  namesSharedOnPurpose,
  problemOf,
  sharedByInstances,
  sharedNames,
  type Found,
} from './explore/checks.js';
import { hostsOf, type Host } from './explore/hosts.js';
import { describeCache, getStampedeCacheToken, LOG_CONTEXT } from './stampede-cache.constants.js';
import { CacheRegistry } from './stampede-cache.registry.js';
import { StampedeCacheService } from './stampede-cache.service.js';

/** Finds every `@Cached` method when the application starts: judges it, and gives its cache to instances without one. */
@Injectable()
export class StampedeCacheExplorer implements OnModuleInit {
  private readonly log = new Logger(LOG_CONTEXT);

  constructor(
    private readonly modules: ModulesContainer,
    private readonly moduleRef: ModuleRef,
    private readonly registry: CacheRegistry,
  ) {}

  async onModuleInit(): Promise<void> {
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
    const problems = [...names].flatMap((name) => this.exploreFor(name, hosts));
    if (problems.length === 0) return;
    throw new ConfigurationError(problems.join('\n'));
  }

  /** What is wrong with the methods of one cache. */
  private exploreFor(cache: string | undefined, hosts: readonly Host[]): readonly string[] {
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
    this.registry.linkOf(cache).service = service;
    const problems: string[] = [];
    const found = mine.flatMap((host) => this.resolve(service, host, problems));
    problems.push(...sharedNames(found), ...sharedByInstances(found));
    for (const host of mine) {
      service.methods.addHost(classOf(host.prototype), host.instance);
      if (host.instance) attach(host.instance, cache, service);
    }
    for (const message of namesSharedOnPurpose(found)) this.log.warn(message);
    return problems;
  }

  private resolve(service: StampedeCacheService, host: Host, problems: string[]): readonly Found[] {
    return host.declarations.flatMap((declaration) => {
      try {
        const found = { host, method: service.methods.resolve(declaration, host.prototype) };
        const problem = problemOf(found);
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
