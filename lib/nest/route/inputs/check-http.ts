import { ConfigurationError } from '../../../core/errors.js';
import { show } from '../../../core/show.js';
import type { HttpInputs, HttpOptions } from '../../interfaces/http-options.interface.js';

/** What says which inputs of a request count. */
export type KeyOptions = Pick<HttpOptions, 'key' | 'inputs'>;

const LISTS = ['params', 'query', 'headers', 'body', 'cookies', 'session'] as const;
const KNOWN: readonly string[] = [...LISTS, 'ip'];

/** @throws ConfigurationError naming what was received */
export function checkKeyOptions({ key, inputs }: KeyOptions, where: string): void {
  if (key !== undefined && typeof key !== 'function') {
    throw new ConfigurationError(
      `${where}: http.key is a function of the ExecutionContext, received ${show(key)}.`,
    );
  }
  if (inputs !== undefined) checkInputs(inputs, where);
}

function checkInputs(inputs: HttpInputs, where: string): void {
  if (typeof inputs !== 'object' || inputs === null || Array.isArray(inputs)) {
    throw new ConfigurationError(
      `${where}: http.inputs names what counts, such as { query: ['page'] }, received ${show(inputs)}.`,
    );
  }
  const unknown = Object.keys(inputs).find((name) => !KNOWN.includes(name));
  if (unknown !== undefined) {
    throw new ConfigurationError(
      `${where}: http.inputs has no ${show(unknown)}, received ${show(inputs)}. Known: ${KNOWN.join(', ')}.`,
    );
  }
  for (const kind of LISTS) checkNames(inputs[kind], `${where}: http.inputs.${kind}`);
  const { ip } = inputs;
  if (ip === undefined || typeof ip === 'boolean') return;
  throw new ConfigurationError(`${where}: http.inputs.ip is true or false, received ${show(ip)}.`);
}

function checkNames(names: unknown, what: string): void {
  if (names === undefined) return;
  if (Array.isArray(names) && names.every((name) => typeof name === 'string' && name !== '')) return;
  throw new ConfigurationError(`${what} is a list of names that are not empty, received ${show(names)}.`);
}
