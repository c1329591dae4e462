import type { ExecutionContext } from '@nestjs/common';
import type { InputReader, InputReading } from '../contracts.js';
import { gather, watch, type CustomInput, type Watched } from './custom-inputs.js';
import type { HandlerArgs } from './handler-args.js';
import type { KeyInput } from './key-inputs.js';
import { Reading } from './readings.js';
import { saysWho } from './says-who.js';
import { RequestView } from './request-view.js';

const NOTHING: readonly never[] = [];
/** An argument does not show what was sent. */
const UNTOLD = Symbol('untold');

/** Reads what a handler declares. The parts are label and value by turns, so that no two inputs are taken for each other. */
export class DeclaredReader implements InputReader {
  /** Labels in place, and undefined where the values go. */
  private readonly template: readonly unknown[];
  private readonly covering: readonly KeyInput[];

  constructor(
    private readonly inputs: readonly KeyInput[],
    private readonly customs: readonly CustomInput[],
    private readonly args: HandlerArgs,
  ) {
    this.template = [...inputs, ...customs].flatMap(({ label }) => [label, undefined]);
    this.covering = inputs.filter(({ covers }) => covers !== undefined);
  }

  read(
    context: ExecutionContext,
    credentials: readonly string[],
  ): InputReading | undefined | Promise<InputReading | undefined> {
    const view = new RequestView(context);
    const parts = this.partsIn(view);
    if (this.customs.length === 0) {
      return this.reading(view, parts, NOTHING, this.isCovered(view, credentials, NOTHING));
    }
    return credentials.length === 0
      ? this.withCustoms(view, parts)
      : this.withWatchedCustoms(view, parts, credentials);
  }

  partsOf(args: readonly unknown[]): readonly unknown[] | undefined {
    const parts = this.template.slice();
    let place = 1;
    for (const { index, spell } of this.inputs) {
      const value = index === undefined ? UNTOLD : sentAs(args[index]);
      if (value === UNTOLD) return undefined;
      parts[place] = spell ? spell(value) : value;
      place += 2;
    }
    for (const { index } of this.customs) {
      parts[place] = args[index];
      place += 2;
    }
    return parts;
  }

  private partsIn(view: RequestView): unknown[] {
    const parts = this.template.slice();
    let place = 1;
    for (const { read } of this.inputs) {
      const value = read(view);
      // A client sends no functions: it is a member that every object inherits.
      parts[place] = typeof value === 'function' ? undefined : value;
      place += 2;
    }
    return parts;
  }

  private withCustoms(
    view: RequestView,
    parts: unknown[],
  ): InputReading | undefined | Promise<InputReading | undefined> {
    return orNothing(
      () => gather<unknown>(this.customs, (input) => input.evaluate(view.context)),
      (values) => this.reading(view, parts, values, true),
    );
  }

  private withWatchedCustoms(
    view: RequestView,
    parts: unknown[],
    credentials: readonly string[],
  ): InputReading | undefined | Promise<InputReading | undefined> {
    return orNothing(
      () => gather<Watched>(this.customs, (input) => watch(input, view.context)),
      (watched) => {
        const values = watched.map(({ value }) => value);
        return this.reading(view, parts, values, this.isCovered(view, credentials, watched));
      },
    );
  }

  /** Everything that was sent must be covered, each by something. */
  private isCovered(view: RequestView, credentials: readonly string[], watched: readonly Watched[]): boolean {
    for (const credential of credentials) {
      const byInput = this.covering.some(({ header, covers }) => header === credential && covers?.(view));
      if (!byInput && !watched.some((custom) => isCover(custom, credential))) return false;
    }
    return true;
  }

  private reading(
    view: RequestView,
    parts: unknown[],
    customs: readonly unknown[],
    isCovered: boolean,
  ): InputReading {
    customs.forEach((value, i) => (parts[2 * (this.inputs.length + i) + 1] = value));
    return new Reading(parts, isCovered, () => this.args.of(view, customs));
  }
}

function isCover({ value, reads }: Watched, credential: string): boolean {
  return saysWho(value) && reads?.cover(credential) === true;
}

/** Undefined where evaluating fails, at once or later; what `finish` throws is thrown. */
function orNothing<T>(
  evaluate: () => T | Promise<T>,
  finish: (result: T) => InputReading,
): InputReading | undefined | Promise<InputReading | undefined> {
  let result: T | Promise<T>;
  try {
    result = evaluate();
  } catch {
    return undefined; // the handler's own evaluation tells of it
  }
  return result instanceof Promise ? result.then(finish, () => undefined) : finish(result);
}

/** What a client sends for such an argument. */
function sentAs(value: unknown): unknown {
  switch (typeof value) {
    case 'string':
    case 'undefined':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return value === null ? undefined : UNTOLD;
  }
}
