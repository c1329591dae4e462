import { ConfigurationError } from '../core/errors.js';
import { show } from '../core/show.js';
import { attach, type Attachable } from './cached/attachment.js';
import type { CachedMethods } from './cached/cached-methods.js';
import { declarationsOf } from './cached/declaration.js';
import { attachEvictor, type EvictionCaller } from './evict/eviction-attachment.js';
import { evictionsOf } from './evict/eviction-declaration.js';
import { describeCache } from './stampede-cache.constants.js';

/** What an instance is attached to. */
interface Attaching {
  /** The cache's name. */
  readonly name: string | undefined;
  readonly service: Attachable;
  readonly methods: CachedMethods;
  readonly evictor: EvictionCaller;
}

/** @throws ConfigurationError for an instance with nothing to attach */
export function attachByHand(instance: object, { name, service, methods, evictor }: Attaching): void {
  const prototype = Object.getPrototypeOf(instance) as object | null;
  const mine = declarationsOf(prototype).filter(({ options }) => options.cache === name);
  const hasEvictions = evictionsOf(prototype).length > 0;
  if (prototype === null || (mine.length === 0 && !hasEvictions)) {
    throw new ConfigurationError(
      `attach(): ${show(instance)} has no method that is @Cached in ${describeCache(name)}, and none with @CacheEvict or @CachePut.`,
    );
  }
  for (const declaration of mine) methods.resolve(declaration, prototype);
  if (mine.length > 0) attach(instance, name, service);
  if (hasEvictions) attachEvictor(instance, evictor);
}
