import { arrayIndex, MAX_LENGTH } from './array-index.js';
import { isErrorName } from './built-in.js';
import { DecodeError } from './codec-errors.js';
import { restoreError } from './restore-error.js';
import { malformed, readMark, readText } from './text-reader.js';
import type { KnownClass, TypeMap } from './types.js';
import * as wire from './wire.js';

type Properties = Record<string, unknown>;
type Types = TypeMap | undefined;

/** Turns the parsed tree of typed JSON back into the value. The tree is taken over, not copied. */
export class TypedReader {
  /** @throws DecodeError on what no writer writes; other errors where a constructor refuses its text */
  read(tree: unknown, known: Types, depth: number): unknown {
    if (typeof tree === 'string') return tree.charCodeAt(0) === wire.MARK_CODE ? readMark(tree) : tree;
    if (typeof tree !== 'object' || tree === null) return tree;
    if (depth > wire.MAX_WIRE_DEPTH) throw new DecodeError('nested too deep');
    if (!Array.isArray(tree)) return this.readProperties(tree as Properties, known, depth);
    const head: unknown = tree[0];
    const tagged =
      typeof head === 'string' &&
      head.charCodeAt(0) === wire.MARK_CODE &&
      head.charCodeAt(1) === wire.HASH_CODE;
    return tagged
      ? this.readContainer(head, tree, known, depth)
      : this.readElements(tree, 0, known?.element(), depth);
  }

  /** In place: a property the parser made is an own one, also `__proto__`, and assigning to it reaches no setter. */
  private readProperties(tree: Properties, known: Types, depth: number): Properties {
    for (const name of Object.keys(tree)) {
      const value = tree[name];
      if (isFinal(value)) continue;
      tree[name] = this.read(value, known?.property(name), depth + 1);
    }
    return tree;
  }

  private readElements(tree: unknown[], from: number, known: Types, depth: number): unknown[] {
    for (let i = from; i < tree.length; i++) {
      const value = tree[i];
      if (!isFinal(value)) tree[i] = this.read(value, known, depth + 1);
    }
    return tree;
  }

  private readContainer(head: string, tree: unknown[], known: Types, depth: number): unknown {
    switch (head) {
      case wire.MAP:
        return this.readMap(tree, known, depth);
      case wire.SET: {
        const set = new Set(this.readElements(tree, 1, known?.element(), depth).slice(1));
        return set.size === tree.length - 1 ? set : malformed(head);
      }
      case wire.NULL_PROTOTYPE:
        // The parser's own object: without its prototype it is what was written.
        return Object.setPrototypeOf(this.propertiesAt(tree, 1, 2, known, depth), null);
      case wire.ODD_ARRAY:
        return this.readOddArray(tree, known, depth);
      case wire.INSTANCE:
        return this.readInstance(tree, known, depth);
      case wire.ERROR:
      case wire.ERROR_INSTANCE:
        return this.readError(head, tree, known, depth);
      default:
        return readText(head, tree);
    }
  }

  private readMap(tree: unknown[], known: Types, depth: number): Map<unknown, unknown> {
    const map = new Map<unknown, unknown>();
    for (let i = 1; i < tree.length; i += 2) {
      const key = this.read(tree[i], undefined, depth + 1);
      map.set(key, this.read(tree[i + 1], known?.element(), depth + 1));
    }
    return map.size === (tree.length - 1) / 2 ? map : malformed(wire.MAP);
  }

  private readOddArray(tree: unknown[], known: Types, depth: number): unknown[] {
    const length: unknown = tree[1];
    if (!Number.isInteger(length) || Number(length) < 0 || Number(length) > MAX_LENGTH)
      return malformed(wire.ODD_ARRAY);
    const written = objectAt(tree, 2, 3);
    const array: unknown[] = [];
    // An element far out makes the engine keep a table rather than room for every hole the length promises.
    array[MAX_LENGTH - 1] = undefined;
    array.length = Number(length);
    for (const name of Object.keys(written)) {
      const isElement = arrayIndex(name) !== undefined;
      const inside = isElement ? known?.element() : known?.property(name);
      if (isElement && Number(name) >= array.length) return malformed(wire.ODD_ARRAY);
      define(array, name, this.read(written[name], inside, depth + 2), true);
    }
    return array;
  }

  private readInstance(tree: unknown[], known: Types, depth: number): object {
    const type = knownAs(tree[1], known);
    if (type.isError || type.privateIn !== undefined) return malformed(wire.INSTANCE);
    const withClass = tree.length === 4 && tree[3] === 1;
    const instance = this.propertiesAt(tree, 2, withClass ? 4 : 3, known, depth);
    if (withClass) define(instance, 'constructor', type.constructor, true);
    // The class is not called: the properties are there already, all that is missing is where its methods are.
    return Object.setPrototypeOf(instance, type.prototype) as object;
  }

  private readError(head: string, tree: unknown[], known: Types, depth: number): Error {
    const hidden = this.propertiesAt(tree, 2, 4, known, depth);
    const visible = this.propertiesAt(tree, 3, 4, known, depth);
    const name: unknown = tree[1];
    if (head === wire.ERROR) {
      return typeof name === 'string' && isErrorName(name)
        ? restoreError(name, hidden, visible)
        : malformed(head);
    }
    const type = knownAs(name, known);
    if (!type.isError) return malformed(head);
    return Object.setPrototypeOf(restoreError('Error', hidden, visible), type.prototype) as Error;
  }

  private propertiesAt(tree: unknown[], at: number, length: number, known: Types, depth: number): Properties {
    return this.readProperties(objectAt(tree, at, length), known, depth + 1);
  }
}

/** What reading leaves as it is: spares most of the tree a call. */
function isFinal(value: unknown): boolean {
  return typeof value === 'string'
    ? value.charCodeAt(0) !== wire.MARK_CODE
    : typeof value !== 'object' || value === null;
}

function knownAs(name: unknown, known: Types): KnownClass {
  const type = known?.known;
  if (type !== undefined && type.name === name) return type;
  throw new DecodeError(
    `an instance of ${String(name)} where the policy's type names ${type?.name ?? 'no class'}`,
  );
}

function objectAt(tree: readonly unknown[], at: number, length: number): Properties {
  const value = tree[at];
  if (tree.length !== length || typeof value !== 'object' || value === null || Array.isArray(value)) {
    return malformed(String(tree[0]));
  }
  return value as Properties;
}

function define(target: object, name: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(target, name, { value, enumerable, configurable: true, writable: true });
}
