import type { Parameter } from './parameters.js';

/** What a transport makes of one declared parameter. */
export interface Source {
  /** The value the handler will get, before pipes. */
  readonly valueOf: (args: readonly unknown[]) => unknown;
  /**
   * `'key'`: a part of the key. `'held'`: the key has it already, or it says nothing. `'open'`: it can't be a part, and only
   * the author knows what the handler takes from it. `'never'`: no answer of the handler can be repeated.
   */
  readonly use: 'key' | 'held' | 'open' | 'never';
  /** The decorator, for messages. */
  readonly label: string;
}

/** A handler, as its prototype has it. */
export interface HandlerPlace {
  readonly prototype: object;
  readonly method: string | symbol;
}

/** How calls of one kind carry their inputs. */
export interface Transport {
  /** The parameters of a handler without decorators. */
  undeclared(place: HandlerPlace): readonly Parameter[];
  sourceOf(parameter: Parameter): Source;
  /** What of a call is part of each key, beside the parameters. */
  baseOf(place: HandlerPlace): (args: readonly unknown[]) => readonly unknown[];
}

/** Of a kind that the transport does not know: Nest hands the handler null. */
export const NOTHING: Source = { valueOf: () => null, use: 'held', label: 'nothing' };

/** A property by name, or the whole where there is no name, as the packages of Nest pick it. */
export function pick(from: unknown, name: unknown): unknown {
  if (typeof name !== 'string' || name === '') return from;
  if (from === undefined || from === null) return undefined;
  return (from as Readonly<Record<string, unknown>>)[name]; // anything but nothing may be asked for a property
}

/** The first `count` positions as parameters of these kinds. */
export function positions(kinds: readonly number[], count: number): readonly Parameter[] {
  return kinds.slice(0, count).map((kind, index) => ({ index, kind, data: undefined }));
}
