import type { HttpInputs } from '../../interfaces/http-options.interface.js';
import { keyCookie, ownCookie, type CookieJars } from './cookies.js';
import { hasValue } from './credentials.js';
import type { DeclaredInput } from './declaration.js';
import { canonicalList, isNegotiation, spellHeader } from './header-values.js';
import { saysWhoAsks } from './identity.js';
import { isObject, type RequestView } from './request-view.js';
import {
  bodyReader,
  headerReader,
  paramReader,
  queryReader,
  sessionReader,
  valueReader,
  type FindSigner,
  type ReadValue,
} from './values.js';

/** An input of a request that is part of the key. Custom decorators are not among them. */
export interface KeyInput {
  /** Kind and name: `:id`, `?page`, `header:accept`. Of a whole kind without a name: `?`. No two inputs share one. */
  readonly label: string;
  readonly read: ReadValue;
  /** The parameter that takes it; undefined: only `http.inputs` names it. */
  readonly index?: number;
  /** The spelling that the key has of a value. @default the value */
  readonly spell?: (value: unknown) => unknown;
  /** The request header it comes from, in lower case. */
  readonly header?: string;
  /** Whether it tells, in this request, whom that header stands for. */
  readonly covers?: ReadValue;
}

/** Kinds whose whole has every named one in it. */
const WHOLES: readonly string[] = [':', '?', 'host:', 'cookie:', 'signed:'];

/** What the key is made of: what is declared by name, what is named beside it, and whole kinds where nothing is named. */
export function keyInputs(
  declared: readonly DeclaredInput[],
  named: HttpInputs | undefined,
  findSigner: FindSigner,
): readonly KeyInput[] {
  const inputs = new Map<string, KeyInput>();
  for (const input of declared) {
    const made = ofDeclared(input, named, findSigner);
    add(inputs, made && { ...made, index: input.index });
  }
  for (const input of ofNames(named ?? {})) add(inputs, input);
  const wholes = WHOLES.filter((label) => inputs.has(label));
  return [...inputs.values()].filter(
    ({ label }) => !wholes.some((whole) => label !== whole && label.startsWith(whole)),
  );
}

/** The names for `Vary`. */
export function varyOf(inputs: readonly KeyInput[]): readonly string[] {
  const names = inputs.flatMap(({ header }) => (header === undefined ? [] : [spellHeader(header)]));
  return [...new Set(names)];
}

function add(inputs: Map<string, KeyInput>, input: KeyInput | undefined): void {
  if (input !== undefined && !inputs.has(input.label)) inputs.set(input.label, input);
}

function ofDeclared(
  input: DeclaredInput,
  named: HttpInputs | undefined,
  findSigner: FindSigner,
): KeyInput | undefined {
  const { kind, name } = input;
  const read = valueReader(input, findSigner);
  switch (kind) {
    case 'param':
      return { label: `:${name ?? ''}`, read };
    case 'query':
      if (name === undefined && named?.query !== undefined) return undefined;
      return { label: `?${name ?? ''}`, read };
    case 'host':
      return { label: `host:${name ?? ''}`, read };
    case 'headers':
      return name === undefined ? undefined : ofHeader(name);
    case 'body':
      return name === undefined ? undefined : { label: `body:${name}`, read };
    case 'cookies':
      return name === undefined
        ? { label: 'cookie:', read, header: 'cookie', covers: hasAllCookies }
        : ofCookie(name);
    case 'signedCookies':
      return ofSignedCookie(name, read);
    default:
      return undefined;
  }
}

function ofNames({ params, query, headers, body, cookies, session, ip }: HttpInputs): readonly KeyInput[] {
  const none: readonly string[] = [];
  return [
    ...(params ?? none).map((name) => ({ label: `:${name}`, read: paramReader(name) })),
    ...(query ?? none).map((name) => ({ label: `?${name}`, read: queryReader(name) })),
    ...(headers ?? none).map(ofHeader),
    ...(body ?? none).map((name) => ({ label: `body:${name}`, read: bodyReader(name) })),
    ...(cookies ?? none).map(ofCookie),
    // A session is found by a cookie, so what is kept in it varies with that.
    ...(session ?? none).map((name) => ({
      label: `session:${name}`,
      read: sessionReader(name),
      header: 'cookie',
      ...(saysWhoAsks(name) && { covers: (view: RequestView) => hasValue(sessionReader(name)(view)) }),
    })),
    ...(ip === true ? [{ label: 'ip', read: ({ request }: RequestView) => request['ip'] }] : []),
  ];
}

function ofHeader(name: string): KeyInput {
  const header = name.toLowerCase();
  const raw = headerReader(header);
  const input = { label: `header:${header}`, header, covers: (view: RequestView) => hasValue(raw(view)) };
  if (!isNegotiation(header)) return { ...input, read: raw };
  return { ...input, read: (view) => canonicalList(raw(view)), spell: canonicalList };
}

function ofCookie(name: string): KeyInput {
  const read = (view: RequestView): unknown => keyCookie(jarsOf(view), name);
  const input = { label: `cookie:${name}`, read, header: 'cookie' };
  return saysWhoAsks(name) ? { ...input, covers: (view) => hasValue(read(view)) } : input;
}

function jarsOf(view: RequestView): CookieJars {
  return { cookies: view.cookies, signed: view.request['signedCookies'], sent: () => view.sentCookies };
}

/** Part of the key as it was sent, since only the application knows the secret: a forged one gets entries of its own. */
function ofSignedCookie(name: string | undefined, verified: ReadValue): KeyInput {
  if (name === undefined) {
    return { label: 'signed:', read: (view) => view.sentCookies, header: 'cookie', covers: () => true };
  }
  const input = {
    label: `signed:${name}`,
    read: (view: RequestView) => ownCookie(view.sentCookies, name),
    header: 'cookie',
  };
  return saysWhoAsks(name) ? { ...input, covers: (view) => hasValue(verified(view)) } : input;
}

/** Not where a parser took the signed ones out: the session's could be among them. */
function hasAllCookies({ request }: RequestView): boolean {
  const signed = request['signedCookies'];
  return !isObject(signed) || Object.keys(signed).length === 0;
}
