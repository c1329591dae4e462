import type { InputReader } from '../contracts.js';
import { checkKeyOptions, type KeyOptions } from './check-http.js';
import { customInputs } from './custom-inputs.js';
import { describeInput, readDeclaration, type HandlerDeclaration } from './declaration.js';
import { DeclaredReader } from './declared-reader.js';
import { checkDemands } from './demands.js';
import { HandlerArgs } from './handler-args.js';
import { keyInputs, varyOf } from './key-inputs.js';
import { KeyReader } from './key-reader.js';
import type { FindSigner } from './values.js';

/** A handler of a controller, and what its author says of its inputs. */
export interface HttpHandler {
  readonly prototype: object;
  readonly method: string | symbol;
  /** The class that Nest makes the controller from: needed where a mixin replaced the prototype's `constructor`. */
  readonly host?: object;
  readonly http: KeyOptions;
  readonly isRequestScoped: boolean;
  /** Class and method, as messages name them. */
  readonly where: string;
  readonly warn: (message: string) => void;
  /** Finds what verifies signed cookies. @default what a cookie parser left */
  readonly findSigner?: FindSigner;
}

/** How requests of one handler are told apart. */
export interface HttpInputsPlan {
  readonly reader: InputReader;
  /** Names of request headers for `Vary`, in their usual spelling. */
  readonly vary: readonly string[];
  /** The parameters of custom decorators, as messages name them. */
  readonly hasCustom: readonly string[];
}

/** @throws ConfigurationError naming the parameter that can't be part of a key, or the option that can't be used */
export function resolveHttpInputs(handler: HttpHandler): HttpInputsPlan {
  const { prototype, method, host, http, where, warn, findSigner = () => undefined } = handler;
  checkKeyOptions(http, where);
  const declaration = readDeclaration(host ?? prototype, method);
  const inputs = keyInputs(declaration.inputs, http.inputs, findSigner);
  const customs = customInputs(declaration.inputs);
  const args = new HandlerArgs(declaration, customs, findSigner);
  const plan = {
    // Also beside http.key: the handler may read these, whatever its key is made of.
    vary: varyOf(inputs),
    hasCustom: declaration.inputs.filter(({ kind }) => kind === 'custom').map(describeInput),
  };
  if (http.key !== undefined) return { ...plan, reader: new KeyReader(http.key, customs, args, where, warn) };
  checkDemands(declaration, http.inputs, handler.isRequestScoped, where);
  warnOfWholeQuery(declaration, handler);
  return { ...plan, reader: new DeclaredReader(inputs, customs, args) };
}

function warnOfWholeQuery({ inputs }: HandlerDeclaration, { http, where, warn }: HttpHandler): void {
  if (http.inputs?.query !== undefined) return;
  const whole = inputs.find(({ kind, name }) => kind === 'query' && name === undefined);
  if (whole === undefined) return;
  warn(
    `${where}: ${describeInput(whole)}, takes all query parameters, so any that a client makes up is an entry of its own. Name those that count: http.inputs: { query: ['page'] }.`,
  );
}
