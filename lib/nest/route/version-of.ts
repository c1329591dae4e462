import 'reflect-metadata';
import { VERSION_NEUTRAL, VersioningType, type VersioningOptions } from '@nestjs/common';
import type { AppConfig } from './binding.js';
import { uriVersion } from './uri-version.js';

/** Nest's metadata of `@Version()`, on handlers and controllers. */
const VERSION = '__version__';

interface VersionedRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Node's own, where the platform wraps it. */
  readonly raw?: object;
}

/** How versions are asked for. */
export interface Versioning {
  /** Which of the handler's versions a request came by. Undefined: it has one at most, which says no more than the handler. */
  readonly of: ((request: object) => string) | undefined;
  /** The request header that chooses between handlers, in lower case. */
  readonly header: string | undefined;
  /** Only the application knows what of a request tells its version. */
  readonly isHidden: boolean;
}

const NONE: Versioning = { of: undefined, header: undefined, isHidden: false };

export function versioningOf(config: AppConfig | undefined, host: object, handler: object): Versioning {
  const options = config?.getVersioning?.() as VersioningOptions | undefined; // Nest's own type, reached by structure
  if (config === undefined || options === undefined) return NONE;
  const isHidden = options.type === VersioningType.CUSTOM;
  const header = headerOf(options);
  const declared: unknown =
    Reflect.getMetadata(VERSION, handler) ?? Reflect.getMetadata(VERSION, host) ?? options.defaultVersion;
  if (!Array.isArray(declared) || declared.length < 2) return { of: undefined, header, isHidden };
  const versions = declared.filter((one) => typeof one === 'string');
  const isNeutral = declared.includes(VERSION_NEUTRAL);
  if (options.type === VersioningType.URI) {
    return { of: uriVersion(config, options, { handler, versions, isNeutral }), header, isHidden };
  }
  const given = reading(options, (version) => version !== undefined && versions.includes(version));
  // What Nest hands its interceptors.
  return { of: (request) => given(request as VersionedRequest), header, isHidden };
}

function headerOf(options: VersioningOptions): string | undefined {
  if (options.type === VersioningType.HEADER) return options.header.toLowerCase();
  return options.type === VersioningType.MEDIA_TYPE ? 'accept' : undefined;
}

/** Of what is asked for, what the handler does not know makes no difference. */
type IsKnown = (version: string | undefined) => boolean;

function reading(
  options: Exclude<VersioningOptions, { type: VersioningType.URI }>,
  isKnown: IsKnown,
): (request: VersionedRequest) => string {
  switch (options.type) {
    case VersioningType.HEADER: {
      const header = options.header.toLowerCase();
      return ({ headers }) => [headers[header]].filter(isKnown).join();
    }
    case VersioningType.MEDIA_TYPE:
      return ({ headers }) => ofMediaType(headers['accept'] ?? '', options.key, isKnown);
    case VersioningType.CUSTOM:
      return (request) => {
        // Fastify's adapter asks with the request of Node.
        const found = options.extractor(request.raw ?? request);
        return [found].flat().filter(isKnown).join();
      };
  }
}

/**
 * NestJS 12 takes the first parameter with the key, of whatever media range; NestJS 11 looks at the first parameter alone. Both
 * count, so that either is told apart, and all of what has a quoted string.
 */
function ofMediaType(accept: string, key: string, isKnown: IsKnown): string {
  if (accept.includes('"')) return accept;
  const parameters = accept.split(',').flatMap((range) => range.split(';').slice(1));
  const first = parameters.map((parameter) => parameter.trim()).find((one) => one.startsWith(key));
  const both = [first?.slice(key.length), accept.split(';')[1]?.split(key)[1]];
  return both.map((version) => (isKnown(version) ? version : '')).join(' ');
}
