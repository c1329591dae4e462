import 'reflect-metadata';
import { VERSION_NEUTRAL, VersioningType, type VersioningOptions } from '@nestjs/common';
import type { AppConfig } from './binding.js';

/** Nest's metadata of `@Version()`, on handlers and controllers. */
const VERSION = '__version__';

interface VersionedRequest {
  readonly url?: string;
  readonly originalUrl?: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/**
 * Which of a handler's versions a request came by. Undefined where it has one at most: then the version says nothing that the
 * handler does not.
 */
export function versionOf(
  config: AppConfig | undefined,
  host: object,
  handler: object,
): ((request: object) => string) | undefined {
  const options = config?.getVersioning?.() as VersioningOptions | undefined; // Nest's own type, reached by structure
  if (options === undefined) return undefined;
  const declared: unknown =
    Reflect.getMetadata(VERSION, handler) ?? Reflect.getMetadata(VERSION, host) ?? options.defaultVersion;
  if (!Array.isArray(declared) || declared.length < 2) return undefined;
  const versions = declared.filter(
    (one): one is string => typeof one === 'string' && one !== VERSION_NEUTRAL.toString(),
  );
  const given = reading(options);
  return (request) => {
    const found = given(request as VersionedRequest, versions); // what Nest hands its interceptors
    return versions.find((version) => found.includes(version)) ?? '';
  };
}

type Reading = (request: VersionedRequest, versions: readonly string[]) => readonly string[];

function reading(options: VersioningOptions): Reading {
  switch (options.type) {
    case VersioningType.URI: {
      const prefix = options.prefix === false ? '' : (options.prefix ?? 'v');
      return (request, versions) => {
        const [path = ''] = (request.originalUrl ?? request.url ?? '').split('?');
        // The first: a path parameter may look like a version.
        const segment = path
          .split('/')
          .find((one) => versions.some((version) => one === `${prefix}${version}`));
        return segment === undefined ? [] : [segment.slice(prefix.length)];
      };
    }
    case VersioningType.HEADER: {
      const header = options.header.toLowerCase();
      return ({ headers }) => [String(headers[header] ?? '')];
    }
    case VersioningType.MEDIA_TYPE:
      return ({ headers }) =>
        String(headers['accept'] ?? '')
          .split(';')
          .map((parameter) => parameter.trim())
          .filter((parameter) => parameter.startsWith(options.key))
          .map((parameter) => parameter.slice(options.key.length));
    case VersioningType.CUSTOM:
      return (request) => {
        const found = options.extractor(request);
        return Array.isArray(found) ? found : [found];
      };
  }
}
