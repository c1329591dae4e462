import { ConfigurableModuleBuilder, type Provider } from '@nestjs/common';
import type { StampedeCacheModuleOptions } from './interfaces/stampede-cache-module-options.interface.js';

interface Extras {
  readonly name?: string;
  readonly isGlobal?: boolean;
  readonly extraProviders?: Provider[];
}

/** Which extras exist. The module completes the definition itself: named caches need to be told apart there. */
const EXTRAS: Extras = { name: undefined, isGlobal: true, extraProviders: undefined };

export const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } =
  new ConfigurableModuleBuilder<StampedeCacheModuleOptions>({ moduleName: 'StampedeCache' })
    .setClassMethodName('forRoot')
    .setFactoryMethodName('createStampedeCacheOptions')
    .setExtras(EXTRAS, (definition) => definition)
    .build();
