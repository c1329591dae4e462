import { ConfigurationError } from '../../../core/errors.js';
import type { HttpInputs } from '../../interfaces/http-options.interface.js';
import { describeInput, type DeclaredInput, type HandlerDeclaration } from './declaration.js';

/** Something that can't become part of a key by itself. */
interface Demand {
  readonly why: string;
  /** The `http.inputs` that answers it; undefined: only `http.key` does. */
  readonly fix: string | undefined;
  isMet(inputs: HttpInputs): boolean;
}

const never = (): boolean => false;

const REQUEST: Demand = {
  why: 'a request is like no other, and which part of it counts is not declared',
  fix: "{ headers: ['x-region'] }",
  isMet: () => true,
};
const HEADERS: Demand = {
  why: 'no two clients send the same headers',
  fix: "{ headers: ['accept-language'] }",
  isMet: ({ headers }) => headers !== undefined,
};
const BODY: Demand = {
  why: 'a whole body makes an entry of each text that a client makes up',
  fix: "{ body: ['filter'] }",
  isMet: ({ body }) => body !== undefined,
};
const SESSION: Demand = {
  why: 'a session belongs to one client and changes',
  fix: "{ session: ['userId'] }",
  isMet: ({ session }) => session !== undefined,
};
const ADDRESS: Demand = {
  why: 'each address would get entries of its own',
  fix: '{ ip: true }',
  isMet: ({ ip }) => ip !== undefined,
};
const FILES: Demand = { why: 'an uploaded file has no text', fix: undefined, isMet: never };
const UNKNOWN: Demand = { why: "what it takes can't be told", fix: undefined, isMet: never };

/** @throws ConfigurationError for the first input that needs the author's word and has none */
export function checkDemands(
  { inputs: declared, isKnown }: HandlerDeclaration,
  inputs: HttpInputs | undefined,
  isRequestScoped: boolean,
  where: string,
): void {
  if (!isKnown) refuse(where, 'the parameters of the handler are not found on its class', UNKNOWN);
  for (const input of declared) {
    const demand = demandOf(input);
    if (demand === undefined || (inputs !== undefined && demand.isMet(inputs))) continue;
    refuse(where, `${describeInput(input)}, can't be part of a key as it is`, demand);
  }
  if (!isRequestScoped || inputs !== undefined) return;
  refuse(
    where,
    'the controller is request-scoped, or depends on a provider that is, so its answers may differ by request',
    REQUEST,
  );
}

function demandOf({ kind, name }: DeclaredInput): Demand | undefined {
  switch (kind) {
    case 'req':
      return REQUEST;
    case 'headers':
      return name === undefined ? HEADERS : undefined;
    case 'body':
      return name === undefined ? BODY : undefined;
    case 'rawBody':
      return BODY;
    case 'session':
      return SESSION;
    case 'ip':
      return ADDRESS;
    case 'file':
    case 'files':
      return FILES;
    case 'unknown':
      return UNKNOWN;
    default:
      return undefined;
  }
}

function refuse(where: string, what: string, { why, fix }: Demand): never {
  const names = fix === undefined ? '' : `, or name what counts: http.inputs: ${fix}`;
  throw new ConfigurationError(
    `${where}: ${what}: ${why}. Give http.key: (context) => …, made of what tells the answers apart${names}.`,
  );
}
