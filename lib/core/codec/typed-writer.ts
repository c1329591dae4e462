import { types } from 'node:util';

import { arrayIndex } from './array-index.js';
import { bigintText } from './bigint-text.js';
import { builtInOf, isErrorName } from './built-in.js';
import { UncacheableValue } from './codec-errors.js';
import { pathOf, patternOf } from './path.js';
import { CIRCULAR, OWN_PROPERTIES, refusalOf, SYMBOL_KEY, TOO_DEEP, type Refusal } from './refusal.js';
import { isRefusal, numberMark, textOf } from './text-writer.js';
import type { KnownClass, TypeMap } from './types.js';
import * as wire from './wire.js';

type Properties = Record<string, unknown>;
type Types = TypeMap | undefined;

/** Turns one value into the tree whose JSON text is typed JSON, or says where and why it can't. */
export class TypedWriter {
  // The containers around the place the walk is at, and the step taken from each of them.
  private readonly ancestors: object[] = [];
  private readonly steps: (string | number)[] = [];

  /** @throws UncacheableValue, also where a getter or a proxy of the value threw */
  writeRoot(value: unknown, known: Types): unknown {
    try {
      return this.write(value, known);
    } catch (error) {
      if (error instanceof UncacheableValue) throw error;
      const path = pathOf(this.ancestors, this.steps);
      throw new UncacheableValue(path, 'not readable', 'reading it threw, see the cause', { cause: error });
    }
  }

  private write(value: unknown, known: Types): unknown {
    switch (typeof value) {
      case 'string':
        return value.charCodeAt(0) === wire.MARK_CODE ? wire.MARK + value : value;
      case 'number':
        return Number.isFinite(value) && (value !== 0 || 1 / value > 0) ? value : numberMark(value);
      case 'boolean':
        return value;
      case 'undefined':
        return wire.UNDEFINED;
      case 'bigint':
        return wire.BIGINT + bigintText(value);
      case 'object':
        return value === null ? null : this.writeObject(value, known);
      case 'function':
        return this.refuse({ what: 'a function', fix: 'return data only, and leave the function out' });
      default:
        return this.refuse({ what: 'a symbol', fix: 'use a string' });
    }
  }

  private writeObject(value: object, known: Types): unknown {
    const prototype = Object.getPrototypeOf(value) as object | null;
    if (this.ancestors.includes(value)) return this.refuse(CIRCULAR);
    if (this.ancestors.length >= wire.MAX_DEPTH) return this.refuse(TOO_DEEP);
    this.ancestors.push(value);
    const written = this.writeContainer(value, prototype, known);
    this.ancestors.pop();
    return written;
  }

  private writeContainer(value: object, prototype: object | null, known: Types): unknown {
    if (prototype === Object.prototype && !Array.isArray(value)) return this.writeProperties(value, known);
    if (prototype === Array.prototype && Array.isArray(value)) return this.writeArray(value, known);
    if (prototype === null) {
      // An array can be robbed of its prototype too; only the bare object is one to restore.
      const bare = Object.prototype.toString.call(value) === '[object Object]';
      return bare ? [wire.NULL_PROTOTYPE, this.writeProperties(value, known)] : this.refuseObject({});
    }
    if (known?.known?.prototype === prototype) return this.writeInstance(value, known.known, known);
    const name = builtInOf(value, prototype);
    return name === undefined ? this.refuseObject(prototype) : this.writeBuiltIn(value, name, known);
  }

  private writeProperties(value: object, known: Types, leftOut?: string): Properties {
    this.refuseSymbolKeys(value);
    const written: Properties = {};
    for (const name of Object.keys(value)) {
      if (name === leftOut) continue;
      put(written, name, this.at(name).write((value as Properties)[name], known?.property(name)));
    }
    return written;
  }

  /** Takes a step from the innermost container; before the value there is read, which may throw. */
  private at(step: string | number): this {
    this.steps[this.ancestors.length - 1] = step;
    return this;
  }

  private writeArray(array: readonly unknown[], known: Types): unknown {
    this.refuseSymbolKeys(array);
    // Counted before it is walked: `length` may be four billion.
    if (Object.keys(array).length !== array.length) return this.writeOddArray(array, known);
    const written: unknown[] = [];
    const elements = known?.element();
    for (let i = 0; i < array.length; i++) {
      const element = array[i];
      if (element === undefined && !Object.hasOwn(array, i)) return this.writeOddArray(array, known);
      written.push(this.at(i).write(element, elements));
    }
    return written;
  }

  private writeOddArray(array: readonly unknown[], known: Types): unknown {
    const written: Properties = {};
    for (const name of Object.keys(array)) {
      const index = arrayIndex(name);
      const inside = index === undefined ? known?.property(name) : known?.element();
      // The keys of an array are its own properties, whatever they are called.
      const elements = array as unknown as Properties;
      put(written, name, this.at(index ?? name).write(elements[name], inside));
    }
    return [wire.ODD_ARRAY, array.length, written];
  }

  private writeInstance(value: object, known: KnownClass, inside: TypeMap): unknown {
    if (known.privateIn !== undefined) {
      return this.refuseHere({
        what: `an instance of ${known.name} with #private members in ${known.privateIn}`,
        fix: 'they are out of reach from outside the class; keep them in ordinary properties, or return a plain object',
      });
    }
    if (known.isError) {
      if (!types.isNativeError(value)) return this.refuseObject(known.prototype);
      return [wire.ERROR_INSTANCE, known.name, ...this.writeError(value, inside)];
    }
    // Decimal.js and others give each instance its class as a property; the class is put back, not stored.
    const own = Object.getOwnPropertyDescriptor(value, 'constructor');
    if (own?.enumerable !== true || own.value !== known.constructor) {
      return [wire.INSTANCE, known.name, this.writeProperties(value, inside)];
    }
    return [wire.INSTANCE, known.name, this.writeProperties(value, inside, 'constructor'), 1];
  }

  private writeBuiltIn(value: object, name: string, known: Types): unknown {
    // Those of another realm; this one's were seen to already.
    if (name === 'Object') return this.writeProperties(value, known);
    if (Array.isArray(value)) return this.writeArray(value, known);
    if (isErrorName(name)) return [wire.ERROR, name, ...this.writeError(value, known)];
    // The properties of a view can't be told from its elements at a bearable cost: they are not looked for.
    if (!ArrayBuffer.isView(value)) {
      this.refuseSymbolKeys(value);
      if (Object.keys(value).length !== 0) return this.refuseHere(OWN_PROPERTIES);
    }
    if (types.isMap(value)) return this.writeMap(value, known);
    if (types.isSet(value)) {
      const elements = known?.element();
      return [wire.SET, ...Array.from(value, (element, i) => this.at(i).write(element, elements))];
    }
    const text = textOf(value, name);
    return isRefusal(text) ? this.refuseHere(text) : text;
  }

  private writeMap(map: ReadonlyMap<unknown, unknown>, known: Types): unknown {
    const written: unknown[] = [wire.MAP];
    let position = 0;
    for (const [key, value] of map) {
      written.push(this.at(position++).write(key, undefined));
      written.push(this.at(position++).write(value, known?.element()));
    }
    return written;
  }

  /** The properties of an error, hidden and visible; the stack belongs to the process that threw it. */
  private writeError(error: object, known: Types): readonly [Properties, Properties] {
    const hidden: Properties = {};
    for (const name of Object.getOwnPropertyNames(error)) {
      if (name === 'stack' || Object.prototype.propertyIsEnumerable.call(error, name)) continue;
      put(hidden, name, this.at(name).write((error as Properties)[name], known?.property(name)));
    }
    return [hidden, this.writeProperties(error, known)];
  }

  private refuseSymbolKeys(value: object): void {
    const symbols = Object.getOwnPropertySymbols(value);
    if (symbols.length === 0) return;
    if (symbols.some((key) => Object.prototype.propertyIsEnumerable.call(value, key)))
      this.refuseHere(SYMBOL_KEY);
  }

  private refuseObject(prototype: object): never {
    const outer = this.ancestors.slice(0, -1);
    return this.refuseHere(refusalOf(prototype, patternOf(outer, this.steps)));
  }

  /** Refuses the innermost container itself rather than something in it. */
  private refuseHere(refusal: Refusal): never {
    this.ancestors.pop();
    return this.refuse(refusal);
  }

  private refuse({ what, fix }: Refusal): never {
    throw new UncacheableValue(pathOf(this.ancestors, this.steps), what, fix);
  }
}

/** Sets a property of the written tree; `__proto__` by assignment would be the prototype. */
function put(target: Properties, name: string, value: unknown): void {
  if (name !== '__proto__') {
    target[name] = value;
    return;
  }
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}
