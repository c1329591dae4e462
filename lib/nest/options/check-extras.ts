import { ConfigurationError } from '../../core/errors.js';
import { show } from '../../core/show.js';
import { checkFlag, isPrefix } from './check-module-options.js';

const ASYNC = [
  'imports',
  'inject',
  'useFactory',
  'useClass',
  'useExisting',
  'isGlobal',
  'name',
  'extraProviders',
  'provideInjectionTokensFrom',
];

/** @throws ConfigurationError */
export function checkExtras({
  name,
  isGlobal,
}: {
  readonly name?: unknown;
  readonly isGlobal?: unknown;
}): void {
  checkFlag(isGlobal, 'isGlobal');
  // The name becomes a part of the namespace.
  if (name === undefined || isPrefix(name)) return;
  throw new ConfigurationError(
    `name is a text such as 'reports', not empty, without { } and control characters; received ${show(name)}.`,
  );
}

const SOURCES = ['useFactory', 'useClass', 'useExisting'];

/** @throws ConfigurationError for what `forRootAsync` does not take itself, and without a source of options */
export function checkAsyncOptions(options: object): void {
  checkExtras(options);
  const unknown = Object.keys(options).find((key) => !ASYNC.includes(key));
  if (unknown !== undefined) {
    throw new ConfigurationError(
      `forRootAsync: unknown option ${show(unknown)}. Known: ${ASYNC.join(', ')}. The cache's own options are what the factory returns.`,
    );
  }
  const given = options as Readonly<Record<string, unknown>>; // a look by name
  if (SOURCES.some((source) => given[source] !== undefined)) return;
  throw new ConfigurationError('forRootAsync needs one of useFactory, useClass and useExisting.');
}
