import 'reflect-metadata';
import { ConfigurationError } from '../../core/errors.js';
import type { InputReader } from './contracts.js';
import { readDeclaration, resolveHttpInputs } from './inputs/index.js';
import type { ResolvedHttp } from './resolve-http.js';
import type { RoutePlace } from './route-place.js';
import { resolveTransportInputs, type HandlerKind } from './transports/index.js';

/** What a handler's declaration makes of its requests. */
export interface PlannedInputs {
  readonly reader: InputReader;
  /** For `Vary`. */
  readonly vary: readonly string[];
  /** Why its responses are for one request each, as far as the declaration tells. */
  readonly refusal: string | undefined;
}

interface Planning extends RoutePlace {
  readonly kind: HandlerKind;
  readonly where: string;
  readonly http: ResolvedHttp;
  readonly warn: (message: string) => void;
}

/** Nest's metadata of `@Sse()`, `@Render()` and `@Redirect()` on handlers. Stable since Nest 6. */
const ANSWERS: Readonly<Record<string, string>> = {
  __sse__: 'the handler sends events (@Sse())',
  __renderTemplate__: 'the handler renders a view (@Render())',
  __redirect__: 'the handler redirects (@Redirect())',
};

const NOTHING: InputReader = { read: () => undefined };

/** @throws ConfigurationError for inputs that can't be part of a key */
export function planInputs(planning: Planning): PlannedInputs {
  return planning.kind === 'http' ? ofHttp(planning) : ofMessage(planning);
}

function ofHttp({ host, method, handler, http, isRequestScoped, where, warn }: Planning): PlannedInputs {
  const refusal = refusalOf(host, method, handler);
  if (refusal !== undefined) return { reader: NOTHING, vary: [], refusal };
  const { key, inputs } = http;
  const { reader, vary, hasCustom } = resolveHttpInputs({
    prototype: host.prototype,
    method,
    host: host as never, // a class that Nest makes instances of
    http: { ...(key && { key }), ...(inputs && { inputs }) },
    isRequestScoped,
    where,
    warn,
  });
  if (http.cacheControl === 'entry' && hasCustom.length > 0 && !http.public) {
    warn(
      `${where}: ${hasCustom.join(' and ')} may read headers that Vary does not name, and with cacheControl 'entry' other caches keep the response. Name them: http.inputs: { headers: ['accept-language'] }.`,
    );
  }
  // What other caches keep, they must not hand to whoever the key was not made for.
  const guarded = mayBeKept(http) && !http.public ? http.credentials.map(spelled) : [];
  return { reader, vary: [...new Set([...vary, ...guarded])], refusal: undefined };
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
  return { reader, vary: [], refusal: undefined };
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

/** `Accept-Language` */
function spelled(name: string): string {
  return name.replace(/(?:^|-)[a-z]/g, (start) => start.toUpperCase());
}
