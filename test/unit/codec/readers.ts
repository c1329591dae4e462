import { types } from 'node:util';

import { encodeValue } from '../../../lib/core/codec/index.js';

/** What a value holds: its properties', keys and elements. */
function partsOf(value: object): readonly unknown[] {
  const parts: unknown[] = ArrayBuffer.isView(value)
    ? []
    : Object.values(Object.getOwnPropertyDescriptors(value)).map((own) => own.value);
  if (types.isMap(value)) parts.push(...[...value].flat(1));
  if (types.isSet(value)) parts.push(...value);
  return parts;
}

/** All objects in a value, itself included; not recursive, as a value may be nested deeper than the stack is high. */
export function objectsIn(value: unknown): Set<object> {
  const found = new Set<object>();
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next !== 'object' || next === null || found.has(next)) continue;
    found.add(next);
    for (const part of partsOf(next)) waiting.push(part);
  }
  return found;
}

/** Whether no object is in both. */
export function areApart(a: unknown, b: unknown): boolean {
  const inA = objectsIn(a);
  return [...objectsIn(b)].every((object) => !inA.has(object));
}

/** Changes whatever can be changed in a value, as a careless owner would. */
export function spoil(value: unknown): void {
  for (const object of objectsIn(value)) {
    if (types.isDate(object)) object.setTime(86_400_000);
    else if (types.isMap(object) || types.isSet(object)) object.clear();
    else if (types.isRegExp(object)) object.lastIndex = 7;
    else if (object instanceof URL) object.hash = '#spoilt';
    else if (object instanceof URLSearchParams) object.append('spoilt', '1');
    else if (types.isAnyArrayBuffer(object)) new Uint8Array(object).fill(0xff);
    else if (ArrayBuffer.isView(object)) {
      new Uint8Array(object.buffer, object.byteOffset, object.byteLength).fill(0xff);
    } else if (Array.isArray(object)) object.length = 0;
    else for (const name of Object.keys(object)) Reflect.deleteProperty(object, name);
    if (!ArrayBuffer.isView(object)) Object.assign(object, { spoilt: true });
  }
}

/** A value as text that differs wherever two values do, in the order of properties, too. */
export function written(value: unknown): string {
  const { codec, bytes } = encodeValue(value);
  return `${codec} ${bytes.toString()}`;
}
