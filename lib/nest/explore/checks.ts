import type { CachedMethod } from '../cached/cached-method.js';
import { describeHost, type Host } from './hosts.js';
import { refusedInputOf } from './route-inputs.js';

/** A cached method with one of the hosts it was found on. */
export interface Found {
  readonly host: Host;
  readonly method: CachedMethod;
}

const ADVICE = 'Give @Cached a key that tells them apart, an own vary, or a name if they may share.';

/** What is wrong with one method on one host. */
export function problemOf({ host, method }: Found): string | undefined {
  const { declaration, where } = method;
  const { key, name } = declaration.options;
  if (host.life === 'request' && !saysWhatIsShared(method)) {
    return `${where}: ${describeHost(host)} is request-scoped or depends on a provider that is, so its answers may differ by request, and the entries would be shared by all. Give @Cached a key with what they depend on, an own vary, or a name if they may be shared.`;
  }
  const input =
    host.isController && key === undefined ? refusedInputOf(host.prototype, declaration.method) : undefined;
  if (input !== undefined) {
    const given = name === undefined ? '' : ' A name is not enough.';
    return `${where}: the handler takes ${input}, which can't be part of a key. Give @Cached a key made of what identifies the entry.${given}`;
  }
  return undefined;
}

/** Different instances of one class under different tokens that would answer for each other. */
export function sharedByInstances(found: readonly Found[]): readonly string[] {
  const byMethod = groupBy(
    found.filter(({ host, method }) => host.instance !== undefined && !saysWhatIsShared(method)),
    ({ method }) => method,
  );
  return [...byMethod].flatMap(([method, places]) => {
    const instances = new Set(places.map(({ host }) => host.instance));
    const tokens = new Set(places.map(({ host }) => host.token));
    if (instances.size < 2 || tokens.size < 2) return [];
    const names = [...tokens].map(describeToken).join(', ');
    return [
      `${method.where}: the tokens ${names} hold different instances of ${method.host.name}, whose entries would be shared. ${ADVICE}`,
    ];
  });
}

/** Classes of which several modules have an instance each, as providers are often listed twice. */
export function sharedByModules(found: readonly Found[]): readonly string[] {
  const silent = found.filter(({ host, method }) => {
    const { http } = method.declaration.options;
    return host.instance !== undefined && !saysWhatIsShared(method) && http?.key === undefined;
  });
  return [...groupBy(silent, ({ method }) => method.host)].flatMap(([{ name }, places]) => {
    const modules = new Map(places.map(({ host }) => [host.instance, host.module]));
    const tokens = new Set(places.map(({ host }) => host.token));
    if (modules.size < 2 || tokens.size > 1) return [];
    const methods = [...new Set(places.map(({ method }) => method.where))].join(', ');
    return [
      `${name} has ${modules.size} instances, in ${[...modules.values()].join(' and ')}, which share the entries of ${methods}. Let one module provide it and export it. Where they answer differently: ${ADVICE}`,
    ];
  });
}

/** Methods of different classes with one name, at least one of them by default. */
export function sharedNames(found: readonly Found[]): readonly string[] {
  return [...groupBy(found, ({ method }) => method.name)].flatMap(([name, places]) => {
    const methods = new Map(places.map((place) => [place.method, place]));
    const byDefault = [...methods.keys()].some(({ declaration }) => declaration.options.name === undefined);
    if (methods.size < 2 || !byDefault) return [];
    const who = [...methods.values()].map(({ host, method }) => `${method.where} of ${describeHost(host)}`);
    return [
      `${who.join(' and ')} have one name, '${name}': they would answer for each other. Give @Cached a name of its own.`,
    ];
  });
}

/** Names that several methods were given on purpose, as it seems. */
export function namesSharedOnPurpose(found: readonly Found[]): readonly string[] {
  return [...groupBy(found, ({ method }) => method.name)].flatMap(([name, places]) => {
    const methods = [...new Set(places.map(({ method }) => method))];
    const given = methods.every(({ declaration }) => declaration.options.name !== undefined);
    if (methods.length < 2 || !given) return [];
    return [
      `${methods.map(({ where }) => where).join(' and ')} share the name '${name}', and so their entries.`,
    ];
  });
}

function saysWhatIsShared({ declaration }: CachedMethod): boolean {
  const { key, name, vary } = declaration.options;
  return key !== undefined || name !== undefined || (vary !== undefined && vary !== false);
}

function describeToken(token: Host['token']): string {
  return typeof token === 'function' ? token.name : String(token);
}

function groupBy<T, K>(items: readonly T[], keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
