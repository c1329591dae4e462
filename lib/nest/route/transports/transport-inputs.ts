import { ConfigurationError } from '../../../core/errors.js';
import type { HttpOptions } from '../../interfaces/http-options.interface.js';
import type { InputReader } from '../contracts.js';
import { KeyCover } from '../inputs/index.js';
import { graphql } from './graphql.js';
import { parametersOf, type Parameter } from './parameters.js';
import { foreignInputs } from './request-inputs.js';
import { rpc } from './rpc.js';
import type { HandlerPlace, Source, Transport } from './transport.js';
import { TransportReader, type DeclaredInput } from './transport-reader.js';
import { ws } from './ws.js';

export type TransportKind = 'graphql' | 'rpc' | 'ws';

/** A handler and what its options say of its inputs. */
export interface TransportHandler extends HandlerPlace {
  readonly http: Pick<HttpOptions, 'key' | 'inputs'>;
  /** Its class is made for each request, or depends on what is. @default false */
  readonly isRequestScoped?: boolean;
  /** The handler in messages. */
  readonly where: string;
  readonly warn: (message: string) => void;
}

const TRANSPORTS: Readonly<Record<TransportKind, Transport>> = { graphql, rpc, ws };

/** How the inputs of a handler become parts of a key; or why they can't, to be shown at bootstrap. */
export function resolveTransportInputs(
  kind: TransportKind,
  handler: TransportHandler,
): InputReader | ConfigurationError {
  const transport = TRANSPORTS[kind];
  const parameters = parametersOf(handler.prototype, handler.method) ?? transport.undeclared(handler);
  const declared = parameters.map((parameter) => ({ parameter, source: sourceOf(transport, parameter) }));
  const problem = problemOf(kind, declared, handler);
  if (problem !== undefined) return new ConfigurationError(`${handler.where}: ${problem}`);
  warnOfWholeParent(kind, declared, handler);
  const keyCover = new KeyCover(handler.where, handler.warn);
  return new TransportReader(kind, transport.baseOf(handler), declared, handler.http, keyCover);
}

function sourceOf(transport: Transport, parameter: Parameter): Source | undefined {
  return parameter.kind === undefined ? undefined : transport.sourceOf(parameter);
}

function problemOf(
  kind: TransportKind,
  declared: readonly DeclaredInput[],
  { http, isRequestScoped }: TransportHandler,
): string | undefined {
  const never = declared.find(({ source }) => source?.use === 'never');
  if (never?.source) {
    return `the handler takes ${never.source.label} and answers by calling it, so there is no answer to keep. Return the answer, or leave the handler unmarked.`;
  }
  const foreign = foreignInputs(kind, http.inputs ?? {});
  if (foreign.length > 0) {
    const what = foreign.map((name) => `http.inputs.${name}`).join(' and ');
    return `${what}: a call over ${kind} has none of it. Give http.key what identifies the answer.`;
  }
  if (isSaid(kind, http)) return undefined;
  const ways = kind === 'graphql' ? 'http.key, or http.inputs with' : 'http.key with';
  if (isRequestScoped) {
    return `its class is request-scoped, or depends on a provider that is, so its answers may differ by request. Give ${ways} what they depend on.`;
  }
  const open = declared.find(({ source }) => source?.use === 'open');
  if (open?.source === undefined) return undefined;
  return `the handler takes ${open.source.label}, which can't be part of a key. Give ${ways} what the handler reads of it.`;
}

/** Whether the author has told what the handler reads beside its plain inputs. */
function isSaid(kind: TransportKind, { key, inputs }: TransportHandler['http']): boolean {
  return key !== undefined || (kind === 'graphql' && inputs !== undefined);
}

function warnOfWholeParent(
  kind: TransportKind,
  declared: readonly DeclaredInput[],
  { http, where, warn }: TransportHandler,
): void {
  const takesParent = kind === 'graphql' && declared.some(({ source }) => source?.use === 'key');
  if (!takesParent || http.key !== undefined) return;
  warn(
    `${where}: each property of the parent is part of the key, since the handler takes the whole of it. Parents that differ only in what the handler does not read share entries with an http.key.`,
  );
}
