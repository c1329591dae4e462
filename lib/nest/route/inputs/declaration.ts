import 'reflect-metadata';

/** Keys of Nest's metadata, which are not part of its public exports; unchanged since Nest 6. */
const ROUTE_ARGS = '__routeArguments__';
const CUSTOM_ROUTE_ARGS = '__customRouteArgs__';
const RESPONSE_PASSTHROUGH = '__responsePassthrough__';

/** Nest's `RouteParamtypes`, by number; the last two since Nest 12. */
const KINDS = [
  'req',
  'res',
  'next',
  'body',
  'query',
  'param',
  'headers',
  'session',
  'file',
  'files',
  'host',
  'ip',
  'rawBody',
  'ack',
  'cookies',
  'signedCookies',
] as const;

/** `unknown`: a kind of a later Nest, whose value can't be told. */
export type InputKind = (typeof KINDS)[number] | 'custom' | 'unknown';

/** What a custom decorator makes of a request: the argument of `createParamDecorator`. */
export type ParamFactory = (data: unknown, context: unknown) => unknown;

/** One parameter of a handler, as its decorator declared it. */
export interface DeclaredInput {
  readonly kind: InputKind;
  /** Position among the handler's parameters, from 0. */
  readonly index: number;
  /** What of the kind it takes; undefined: all of it. */
  readonly name: string | undefined;
  /** The argument of the decorator, as it was given. */
  readonly data: unknown;
  /** Only of a custom decorator. */
  readonly factory: ParamFactory | undefined;
}

/** The parameters of a handler. */
export interface HandlerDeclaration {
  /** By position. */
  readonly inputs: readonly DeclaredInput[];
  /** False where the class that keeps the metadata can't be told from a prototype: hand in the class. */
  readonly isKnown: boolean;
  /** Takes `@Res()` or `@Next()` without `passthrough`: it answers by itself. */
  readonly answersItself: boolean;
}

const UNKNOWN_HOST: HandlerDeclaration = { inputs: [], isKnown: false, answersItself: false };

/**
 * What a handler takes, from Nest's metadata.
 * @param host the class that Nest makes the controller from, or else its prototype
 */
export function readDeclaration(host: object, method: string | symbol): HandlerDeclaration {
  const keeper = metadataHost(host, method);
  if (keeper === undefined) return UNKNOWN_HOST;
  const metadata: unknown = Reflect.getMetadata(ROUTE_ARGS, keeper, method);
  const entries = typeof metadata === 'object' && metadata !== null ? Object.entries(metadata) : [];
  const inputs = entries.map(([id, entry]) => toInput(id, entry)).sort((a, b) => a.index - b.index);
  const takesResponse = inputs.some(({ kind }) => kind === 'res' || kind === 'next');
  const isPassthrough = Boolean(Reflect.getMetadata(RESPONSE_PASSTHROUGH, keeper, method));
  return { inputs, isKnown: true, answersItself: takesResponse && !isPassthrough };
}

/**
 * The class whose metadata counts, found as Nest's router does: the constructor of the prototype, as long as the method is
 * that class's own. A mixin helper copies methods along with `constructor`; a method declared next to it stays with the class.
 */
function metadataHost(host: object, method: string | symbol): object | undefined {
  const isClass = typeof host === 'function';
  const prototype = isClass ? (host.prototype as object) : host; // a class has one
  const { constructor } = prototype;
  if (typeof constructor !== 'function') return isClass ? host : undefined;
  const copiedFrom: unknown = constructor.prototype;
  if (memberOf(copiedFrom, method) === memberOf(prototype, method)) return constructor;
  return isClass ? host : undefined;
}

function memberOf(holder: unknown, member: string | symbol): unknown {
  return typeof holder === 'object' && holder !== null ? (Reflect.get(holder, member) as unknown) : undefined;
}

/** What Nest keeps for a parameter. */
interface Entry {
  readonly index: number;
  readonly data?: unknown;
  readonly factory?: unknown;
}

/** `id` is `<kind>:<index>`, or `<random>__customRouteArgs__:<index>`. */
function toInput(id: string, entry: unknown): DeclaredInput {
  const { index, data, factory } = entry as Entry; // Nest's own metadata
  if (id.includes(CUSTOM_ROUTE_ARGS)) {
    return { kind: 'custom', index, name: undefined, data, factory: asFactory(factory) };
  }
  const kind = KINDS[Number(id.split(':')[0])] ?? 'unknown';
  // Nest takes an empty name for none.
  const name = typeof data === 'string' && data !== '' ? data : undefined;
  return { kind, index, name, data, factory: undefined };
}

/** As Nest has it: without a function the parameter is null. */
function asFactory(factory: unknown): ParamFactory {
  return typeof factory === 'function' ? (factory as ParamFactory) : () => null; // any function may be called
}

const DECORATORS: Readonly<Record<InputKind, string>> = {
  req: '@Req',
  res: '@Res',
  next: '@Next',
  body: '@Body',
  query: '@Query',
  param: '@Param',
  headers: '@Headers',
  session: '@Session',
  file: '@UploadedFile',
  files: '@UploadedFiles',
  host: '@HostParam',
  ip: '@Ip',
  rawBody: '@RawBody',
  ack: '@Ack',
  cookies: '@Cookies',
  signedCookies: '@SignedCookies',
  custom: 'a custom decorator',
  unknown: 'a decorator that is not known here',
};

/** `parameter 2, @Query()`: as messages name a parameter. */
export function describeInput(input: DeclaredInput): string {
  return `parameter ${input.index + 1}, ${decoratorOf(input)}`;
}

/** `@Query()` */
export function decoratorOf({ kind, name }: Pick<DeclaredInput, 'kind' | 'name'>): string {
  const decorator = DECORATORS[kind];
  if (!decorator.startsWith('@')) return decorator;
  return `${decorator}(${name === undefined ? '' : `'${name}'`})`;
}
