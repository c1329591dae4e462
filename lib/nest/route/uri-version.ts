import type { VersioningOptions } from '@nestjs/common';
import type { AppConfig } from './binding.js';

/** Nest's metadata of the request method on a handler, and its numbers for all of them. */
const METHOD = 'method';
const ALL: readonly unknown[] = [5, -1];

/** A handler with several versions in its path. */
export interface UriVersioned {
  readonly handler: object;
  readonly versions: readonly string[];
  /** It is reached without a version too. */
  readonly isNeutral: boolean;
}

/**
 * Which version a request came by, from the path of its route as it was registered: what was sent may differ in case and
 * encoding, and may have been rewritten. Nest builds it of the global prefix, the version, and the handler's own path.
 */
export function uriVersion(
  config: AppConfig,
  options: VersioningOptions & { readonly prefix?: string | false },
  { handler, versions, isNeutral }: UriVersioned,
): (request: object) => string {
  const mark = options.prefix === false ? '' : (options.prefix ?? 'v');
  const prefix = pathOf(config.getGlobalPrefix?.() ?? '');
  const isExcluded = exclusionOf(config, prefix, handler);
  const known = new Map<string, string>();

  const told = (pattern: string): string => {
    for (const version of versions) {
      const head = `/${mark}${version}`;
      for (const outer of new Set([prefix, ''])) {
        const rest = below(pattern, outer + head);
        if (rest === undefined || isExcluded(rest) !== (outer !== prefix)) continue;
        // A path without a version may look as if it had one, so then the whole of it counts.
        return isNeutral ? head + rest : version;
      }
    }
    const rest = below(pattern, prefix);
    return rest === undefined || isExcluded(rest) ? pattern : rest;
  };
  return (request) => {
    const pattern = patternOf(request);
    if (pattern === undefined) return sentPathOf(request);
    let version = known.get(pattern); // as many as there are routes
    if (version === undefined) known.set(pattern, (version = told(pattern)));
    return version;
  };
}

/** Which paths Nest leaves out of the global prefix; their versions don't count. */
function exclusionOf(config: AppConfig, prefix: string, handler: object): (path: string) => boolean {
  const method: unknown = Reflect.getMetadata(METHOD, handler);
  const routes = config.getGlobalPrefixOptions?.().exclude ?? [];
  const mine = routes.filter(({ requestMethod }) => ALL.includes(requestMethod) || requestMethod === method);
  return (path) => prefix !== '' && mine.some(({ pathRegex }) => pathRegex.test(path === '' ? '/' : path));
}

/** What follows in a path; undefined: it begins with something else. */
function below(path: string, head: string): string | undefined {
  if (path === head) return '';
  return path.startsWith(`${head}/`) ? path.slice(head.length) : undefined;
}

/** With a slash before and none behind, as Nest joins it. */
function pathOf(prefix: string): string {
  const text = prefix.startsWith('/') || prefix === '' ? prefix : `/${prefix}`;
  return text.endsWith('/') ? text.slice(0, -1) : text;
}

/** Of Express' route or of Fastify's. */
function patternOf(request: object): string | undefined {
  const { route, routeOptions } = request as {
    readonly route?: { readonly path?: unknown };
    readonly routeOptions?: { readonly url?: unknown };
  };
  const pattern = routeOptions?.url ?? route?.path;
  return typeof pattern === 'string' ? pattern : undefined;
}

/** Of another platform: too many entries, but none for two versions. */
function sentPathOf(request: object): string {
  const { url } = request as { readonly url?: unknown };
  return typeof url === 'string' ? (url.split('?')[0] ?? '') : '';
}
