import type { ExecutionContext } from '@nestjs/common';
import type { HttpOptions } from '../../interfaces/http-options.interface.js';
import { isThenable } from '../../is-thenable.js';
import type { InputReader, InputReading } from '../contracts.js';
import { saysWho, type KeyCover } from '../inputs/index.js';
import type { Parameter } from './parameters.js';
import { RecordedContext } from './recorded-context.js';
import { Recorder } from './recorder.js';
import { credentialValues } from './request.js';
import { readInputs } from './request-inputs.js';
import type { Source } from './transport.js';

/** A parameter with what its transport makes of it; without a source it has a custom decorator. */
export interface DeclaredInput {
  readonly parameter: Parameter;
  readonly source: Source | undefined;
}

/** One evaluated parameter. */
interface Evaluated {
  readonly value: unknown;
  readonly isPart: boolean;
  readonly covered: readonly string[];
}

/** Reads the declared inputs of a handler that is called over anything but plain HTTP. */
export class TransportReader implements InputReader {
  constructor(
    private readonly kind: string,
    private readonly baseOf: (call: readonly unknown[]) => readonly unknown[],
    private readonly declared: readonly DeclaredInput[],
    private readonly http: Pick<HttpOptions, 'key' | 'inputs'>,
    private readonly keyCover: KeyCover,
  ) {}

  read(
    context: ExecutionContext,
    credentials: readonly string[],
  ): InputReading | undefined | Promise<InputReading | undefined> {
    const ready: Evaluated[] = [];
    const pending: Promise<void>[] = [];
    try {
      this.declared.forEach((input, i) => {
        const one = evaluate(input, context, credentials);
        if (isThenable(one)) pending.push(Promise.resolve(one).then((value) => void (ready[i] = value)));
        else ready[i] = one;
      });
    } catch {
      void Promise.allSettled(pending); // what they reject with is not heard of any more
      return undefined;
    }
    if (pending.length === 0) return this.readingOf(context, credentials, ready);
    return this.readWhenReady(context, credentials, ready, pending);
  }

  private async readWhenReady(
    context: ExecutionContext,
    credentials: readonly string[],
    ready: readonly Evaluated[],
    pending: readonly Promise<void>[],
  ): Promise<InputReading | undefined> {
    try {
      await Promise.all(pending);
    } catch {
      return undefined;
    }
    return this.readingOf(context, credentials, ready);
  }

  private readingOf(
    context: ExecutionContext,
    credentials: readonly string[],
    evaluated: readonly Evaluated[],
  ): InputReading {
    const args: unknown[] = [];
    this.declared.forEach(({ parameter }, i) => (args[parameter.index] = evaluated[i]?.value));
    const filled = Array.from(args); // parameters without a decorator left holes
    if (this.http.key !== undefined) {
      const key: unknown = this.http.key(context);
      return { parts: [this.kind, key], args: filled, isCovered: this.keyCover.isCovered(key, credentials) };
    }
    const call = context.getArgs<unknown[]>();
    const named = this.http.inputs === undefined ? [] : readInputs(this.http.inputs, call);
    const covered = new Set([
      ...named.map(({ covers }) => covers),
      ...evaluated.flatMap((one) => one.covered),
    ]);
    return {
      parts: [
        this.kind,
        ...this.baseOf(call),
        ...evaluated.flatMap(({ isPart, value }) => (isPart ? [value] : [])),
        ...named.map(({ value }) => value),
      ],
      args: filled,
      isCovered: credentials.every((name) => covered.has(name)),
    };
  }
}

function evaluate(
  { parameter, source }: DeclaredInput,
  context: ExecutionContext,
  credentials: readonly string[],
): Evaluated | PromiseLike<Evaluated> {
  if (source) {
    const value = source.valueOf(context.getArgs<unknown[]>());
    return { value, isPart: source.use === 'key', covered: [] };
  }
  if (parameter.factory === undefined) return { value: null, isPart: false, covered: [] }; // as Nest does
  // Recording costs a Proxy per object, so only where there is something to cover.
  if (credentials.length === 0) return custom(parameter, context);
  return watched(parameter, context, credentials);
}

function custom({ factory, data }: Parameter, context: ExecutionContext): Evaluated | PromiseLike<Evaluated> {
  const returned = factory?.(data, context);
  const finish = (value: unknown): Evaluated => ({ value, isPart: true, covered: [] });
  return isThenable(returned) ? returned.then(finish) : finish(returned);
}

/** With a context that notes what is read of it, and again with the real one where that fails. */
function watched(
  parameter: Parameter,
  context: ExecutionContext,
  credentials: readonly string[],
): Evaluated | PromiseLike<Evaluated> {
  const recorder = new Recorder();
  const finish = (returned: unknown): Evaluated => {
    const value = recorder.unwrap(returned);
    const isCovered = (name: string): boolean => recorder.covers(name, () => credentialValues(context, name));
    return { value, isPart: true, covered: saysWho(value) ? credentials.filter(isCovered) : [] };
  };
  try {
    const returned = parameter.factory?.(parameter.data, new RecordedContext(context, recorder));
    if (!isThenable(returned)) return finish(returned);
    return returned.then(finish, () => custom(parameter, context));
  } catch {
    return custom(parameter, context);
  }
}
