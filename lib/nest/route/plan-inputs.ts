import 'reflect-metadata';
import { ConfigurationError } from '../../core/errors.js';
import type { AppConfig } from './binding.js';
import type { InputReader } from './contracts.js';
import { readDeclaration, resolveHttpInputs, spellHeader } from './inputs/index.js';
import type { ResolvedHttp } from './resolve-http.js';
import type { RoutePlace } from './route-place.js';
import { resolveTransportInputs, type HandlerKind } from './transports/index.js';
import { versioningOf } from './version-of.js';

/** What a handler's declaration makes of its requests. */
export interface PlannedInputs {
  readonly reader: InputReader;
  /** For `Vary`. */
  readonly vary: readonly string[];
  /** The request headers that are part of the key, in lower case. */
  readonly headers: ReadonlySet<string>;
  /** What of a request is part of the key whatever the handler declares: its version, host parameters. */
  readonly placeOf: ((request: object) => readonly unknown[]) | undefined;
  /** The key has parts that neither the URL nor `Vary` tells. */
  readonly isHidden: boolean;
  /** Why its responses are for one request each, as far as the declaration tells. */
  readonly refusal: string | undefined;
}

interface Planning extends RoutePlace {
  readonly kind: HandlerKind;
  readonly where: string;
  readonly http: ResolvedHttp;
  readonly config: () => AppConfig | undefined;
  readonly warn: (message: string) => void;
}

/** Nest's metadata of `@Sse()`, `@Render()` and `@Redirect()` on handlers. Stable since Nest 6. */
const ANSWERS: Readonly<Record<string, string>> = {
  __sse__: 'the handler sends events (@Sse())',
  __renderTemplate__: 'the handler renders a view (@Render())',
  __redirect__: 'the handler redirects (@Redirect())',
};

/** Nest's metadata of `host` on controllers. */
const HOST = 'host';

const NOTHING = { vary: [], headers: new Set<string>(), placeOf: undefined, isHidden: false } as const;

/** @throws ConfigurationError for inputs that can't be part of a key */
export function planInputs(planning: Planning): PlannedInputs {
  return planning.kind === 'http' ? ofHttp(planning) : ofMessage(planning);
}

function ofHttp(planning: Planning): PlannedInputs {
  const { host, method, handler, http, isRequestScoped, where, warn, config } = planning;
  const refusal = refusalOf(host, method, handler);
  if (refusal !== undefined) return { ...NOTHING, reader: { read: () => undefined }, refusal };
  const { key, inputs } = http;
  const { reader, vary, hasCustom } = resolveHttpInputs({
    prototype: host.prototype,
    method,
    host: host as never, // a class that Nest makes instances of
    http: { ...(key && { key }), ...(inputs && { inputs }) },
    isRequestScoped,
    where,
    warn,
    findSigner: () => config()?.getCookieSigner?.(),
  });
  warnOfHiddenParts(planning, hasCustom);
  const { of, header, isHidden } = versioningOf(config(), host, handler);
  // What other caches keep, they must not hand to whoever the key was not made for.
  const guarded = mayBeKept(http) && !http.public ? http.credentials : [];
  const more = [...guarded, ...(header === undefined ? [] : [header])].map(spellHeader);
  return {
    reader,
    vary: [...new Set([...vary, ...more])],
    // Of `Accept` only the version is.
    headers: new Set([...vary.map(lower), ...(of && header && header !== 'accept' ? [header] : [])]),
    placeOf: placeOf(host, of),
    isHidden: isHidden || hasCustom.length > 0 || key !== undefined || inputs?.ip === true,
    refusal: undefined,
  };
}

function warnOfHiddenParts({ http, where, warn }: Planning, hasCustom: readonly string[]): void {
  if (http.cacheControl !== 'entry' || hasCustom.length === 0 || http.public) return;
  warn(
    `${where}: ${hasCustom.join(' and ')} may read what Vary does not name, so with cacheControl 'entry' its responses say private, and a client reuses them whatever that is. Name the headers: http.inputs: { headers: ['accept-language'] }; or give http.public: true where the answer is the same whoever asks.`,
  );
}

function placeOf(host: object, version: ((request: object) => string) | undefined): PlannedInputs['placeOf'] {
  if (version === undefined && Reflect.getMetadata(HOST, host) === undefined) return undefined;
  return (request) => [version?.(request), (request as { readonly hosts?: unknown }).hosts]; // Nest puts them there
}

function ofMessage({ host, method, kind, http, isRequestScoped, where, warn }: Planning): PlannedInputs {
  const { key, inputs } = http;
  const options = { ...(key && { key }), ...(inputs && { inputs }) };
  const reader = resolveTransportInputs(kind as 'graphql' | 'rpc' | 'ws', {
    prototype: host.prototype,
    method,
    http: options,
    isRequestScoped,
    where,
    warn,
  });
  if (reader instanceof ConfigurationError) throw reader;
  return { ...NOTHING, reader, refusal: undefined };
}

function refusalOf(host: RoutePlace['host'], method: string | symbol, handler: object): string | undefined {
  const declared = Object.keys(ANSWERS).find((key) => Reflect.hasMetadata(key, handler));
  if (declared !== undefined) return ANSWERS[declared];
  return readDeclaration(host as never, method).answersItself
    ? 'the handler takes @Res() or @Next() without passthrough and answers by itself'
    : undefined;
}

/** Whether a cache that others use may keep it. */
function mayBeKept({ cacheControl }: ResolvedHttp): boolean {
  return cacheControl !== false && !/\b(?:private|no-store|no-cache)\b/i.test(cacheControl);
}

function lower(name: string): string {
  return name.toLowerCase();
}
