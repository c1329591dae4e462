import { type DynamicModule, Global, Logger, Module, type Provider } from '@nestjs/common';
import { createMemoryStore } from '../memory/index.js';
import { resolveCoherence } from '../core/cache-options.js';
import { resolveNear, type NearLimits } from '../core/near/index.js';
import { ConfigurationError } from '../core/errors.js';
import type { Log } from '../core/ports.js';
import { show } from '../core/show.js';
import { createRedisStore, readConnection, redact } from '../redis/index.js';
import { createNodeRuntime } from '../runtime/index.js';
import type { BuiltStore, CacheSetup, StoreFactory } from './cache-setup.js';
import type {
  StampedeCacheModuleAsyncOptions,
  StampedeCacheModuleExtras,
  StampedeCacheModuleOptions,
} from './interfaces/stampede-cache-module-options.interface.js';
import { checkModuleOptions } from './options/check-module-options.js';
import { checkAsyncOptions, checkExtras } from './options/check-extras.js';
import { isSwitchedOff } from './options/switched-off.js';
import {
  CACHE_NAME,
  CACHE_SETUP,
  describeCache,
  EVICTOR_TOKEN,
  getCacheLinkToken,
  getStampedeCacheToken,
  LOG_CONTEXT,
  ROUTES_TOKEN,
  STORE_FACTORY,
} from './stampede-cache.constants.js';
import { StampedeCacheInterceptor } from './stampede-cache.interceptor.js';
import { StampedeCacheExplorer } from './stampede-cache.explorer.js';
import { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } from './stampede-cache.module-definition.js';
import { CacheRegistry } from './stampede-cache.registry.js';
import { StampedeCacheService } from './stampede-cache.service.js';

/** What all caches of one application share. A plain class, so Nest makes it once, however many modules import it. */
@Global()
@Module({
  providers: [
    CacheRegistry,
    StampedeCacheExplorer,
    { provide: STORE_FACTORY, useValue: buildStore satisfies StoreFactory },
    {
      provide: EVICTOR_TOKEN,
      useFactory: (registry: CacheRegistry) => registry.evictor,
      inject: [CacheRegistry],
    },
    {
      provide: ROUTES_TOKEN,
      useFactory: (registry: CacheRegistry) => registry.routes,
      inject: [CacheRegistry],
    },
    StampedeCacheInterceptor,
  ],
  exports: [CacheRegistry, EVICTOR_TOKEN, ROUTES_TOKEN, StampedeCacheInterceptor],
})
class StampedeCacheCoreModule {}

/** The cache as a Nest module. Importing the bare class provides nothing: `forRoot()` or `forRootAsync()` does. */
@Module({})
export class StampedeCacheModule extends ConfigurableModuleClass {
  /**
   * Configures a cache, visible everywhere unless `isGlobal: false`. Without `redis` its entries live in this process.
   * What is wrong with the options is told, by name, when the application starts.
   */
  static override forRoot(
    options: StampedeCacheModuleOptions & StampedeCacheModuleExtras = {},
  ): DynamicModule {
    const given = typeof options === 'object' && options !== null && !Array.isArray(options) ? options : {};
    return complete(super.forRoot(given), given, () => {
      if (given !== options)
        throw new ConfigurationError(
          `forRoot() takes an object of options, received ${redact(show(options))}.`,
        );
      checkExtras(given);
    });
  }

  /** The same with options that a factory makes from other providers. */
  static override forRootAsync(options: StampedeCacheModuleAsyncOptions): DynamicModule {
    const { useFactory, useClass, useExisting } = options;
    const isComplete = useFactory ?? useClass ?? useExisting;
    // Nest's own error for options without a source names none of the three.
    const definition = super.forRootAsync(isComplete ? options : { ...options, useFactory: () => ({}) });
    return complete(definition, options, () => checkAsyncOptions(options));
  }
}

/** Adds to a definition what makes its cache, and who may see it. */
function complete(
  definition: DynamicModule,
  extras: StampedeCacheModuleExtras & { readonly extraProviders?: Provider[] },
  check: () => void,
): DynamicModule {
  const { name, isGlobal, extraProviders = [] } = extras;
  const token = getStampedeCacheToken(name);
  const service = {
    useFactory: (setup: CacheSetup, registry: CacheRegistry) => registry.serviceOf(setup),
    inject: [CACHE_SETUP, CacheRegistry],
  };
  const services: Provider[] =
    name === undefined
      ? [
          { provide: StampedeCacheService, ...service },
          { provide: token, useExisting: StampedeCacheService },
        ]
      : [{ provide: token, ...service }];
  const linkToken = getCacheLinkToken(name);
  const link: Provider = {
    provide: linkToken,
    useFactory: (registry: CacheRegistry) => registry.linkOf(name),
    inject: [CacheRegistry],
  };
  const setup: Provider = {
    provide: CACHE_SETUP,
    useFactory: (options: unknown, registry: CacheRegistry) => {
      check();
      return registry.configure(name, checkModuleOptions(options, describeCache(name)));
    },
    inject: [MODULE_OPTIONS_TOKEN, CacheRegistry],
  };
  return {
    ...definition,
    global: isGlobal ?? true,
    imports: [...(definition.imports ?? []), StampedeCacheCoreModule],
    providers: [
      ...(definition.providers ?? []),
      ...extraProviders,
      { provide: CACHE_NAME, useValue: { name } },
      setup,
      link,
      ...services,
    ],
    exports: name === undefined ? [StampedeCacheService, token, linkToken] : [token, linkToken],
  };
}

async function buildStore(setup: CacheSetup): Promise<BuiltStore> {
  const logger = new Logger(LOG_CONTEXT);
  const log: Log = { info: (message) => logger.log(message), warn: (message) => logger.warn(message) };
  const { name, options } = setup;
  const runtime = createNodeRuntime({ log: name === undefined ? log : prefixed(log, describeCache(name)) });
  const namespace = await setup.namespace;
  if (options.enabled === false || isSwitchedOff()) {
    // Nothing will be connected, but what is wrong is told all the same.
    if ('redis' in options) readConnection(options.redis);
    log.info(`${describeCache(name)} is switched off: every call goes straight to its method.`);
    return inProcess(runtime, resolveNear(options.l1, 'l1'));
  }
  if (!('redis' in options)) {
    log.info(`${describeCache(name)} keeps its entries in this process: no redis was configured.`);
    return inProcess(runtime, resolveNear(options.l1, 'l1'));
  }
  const listeners: ((state: 'up' | 'down', reason: string) => void)[] = [];
  const { maxLag, mode } = resolveCoherence(options.coherence);
  const store = await createRedisStore({
    connection: options.redis,
    namespace,
    runtime,
    maxLag,
    tracking: mode === 'tracking',
    onState: (state, reason) => {
      if (state === 'up') log.info(`${describeCache(name)}: Redis is up (namespace ${namespace}).`);
      else
        log.warn(
          `${describeCache(name)}: Redis is down (${reason}). Calls go to the origin, through the load guard.`,
        );
      for (const listener of listeners) listener(state, reason);
    },
  });
  return {
    store,
    runtime,
    onState: (listener) => void listeners.push(listener),
    refusal: () => store.refusal,
    isUp: () => store.isUp(),
  };
}

/** Of several caches each line says which. */
function prefixed(log: Log, who: string): Log {
  return {
    info: (message) => log.info(`${who}: ${message}`),
    warn: (message) => log.warn(`${who}: ${message}`),
  };
}

function inProcess(runtime: BuiltStore['runtime'], bounds: NearLimits | undefined): BuiltStore {
  const { maxEntries, maxBytes } = bounds ?? {};
  const store = createMemoryStore({
    runtime,
    ...(maxEntries !== undefined && { maxEntries }),
    ...(maxBytes !== undefined && { maxBytes }),
  });
  return { store, runtime, onState: () => undefined, refusal: () => undefined, isUp: () => true };
}
