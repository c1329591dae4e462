import type { ExecutionContext } from '@nestjs/common';
import { isThenable } from '../../is-thenable.js';
import { Recorder, type Reads } from './recorder.js';
import type { DeclaredInput } from './declaration.js';

/** A parameter of a custom decorator. */
export interface CustomInput {
  /** `@2`: by position, as such a decorator has no name. */
  readonly label: string;
  readonly index: number;
  /** What the decorator's factory says; it may be a Promise, and it may throw. */
  evaluate(context: ExecutionContext): unknown;
}

/** A value with what was read to get it; undefined: it could not be watched. */
export interface Watched {
  readonly value: unknown;
  readonly reads: Reads | undefined;
}

export function customInputs(declared: readonly DeclaredInput[]): readonly CustomInput[] {
  return declared.flatMap(({ factory, index, data }) =>
    factory === undefined
      ? []
      : [{ label: `@${index}`, index, evaluate: (context) => factory(data, context) }],
  );
}

/** All results in order; a Promise only where one of them is. @throws what `run` throws */
export function gather<T>(
  inputs: readonly CustomInput[],
  run: (input: CustomInput) => T | PromiseLike<T>,
): readonly T[] | Promise<readonly T[]> {
  const results: (T | PromiseLike<T>)[] = [];
  let isLater = false;
  try {
    for (const input of inputs) {
      const result = run(input);
      isLater ||= isThenable(result);
      results.push(result);
    }
  } catch (error) {
    results.forEach(disown);
    throw error;
  }
  return isLater ? Promise.all(results) : (results as readonly T[]); // none can be awaited
}

/** Evaluates with a request that notes what is read of it, and again with the real one where that fails. */
export function watch(input: CustomInput, context: ExecutionContext): Watched | Promise<Watched> {
  const recorder = new Recorder(context);
  try {
    const value = input.evaluate(recorder.context);
    if (!isThenable(value)) return recorder.result(value);
    return Promise.resolve(value).then(
      (settled) => recorder.result(settled),
      () => unwatched(input, context),
    );
  } catch {
    return unwatched(input, context);
  }
}

function unwatched(input: CustomInput, context: ExecutionContext): Watched | Promise<Watched> {
  const value = input.evaluate(context);
  if (!isThenable(value)) return { value, reads: undefined };
  return Promise.resolve(value).then((settled) => ({ value: settled, reads: undefined }));
}

/** Nobody waits for it any more: its failure must not end the process. */
export function disown(value: unknown): void {
  if (isThenable(value)) value.then(undefined, () => undefined);
}
