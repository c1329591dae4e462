import { types } from 'node:util';

import { DecodeError } from './codec-errors.js';

type BinaryView = new (buffer: ArrayBuffer) => ArrayBufferView;

const TYPED_ARRAYS: readonly string[] = [
  'Uint8Array',
  'Uint8ClampedArray',
  'Int8Array',
  'Uint16Array',
  'Int16Array',
  'Uint32Array',
  'Int32Array',
  'Float16Array',
  'Float32Array',
  'Float64Array',
  'BigUint64Array',
  'BigInt64Array',
];

/** Whether the class of that name holds nothing but bytes. `Float16Array` where the platform has it. */
export function isBinaryName(name: string): boolean {
  return name === 'ArrayBuffer' || name === 'DataView' || TYPED_ARRAYS.includes(name);
}

/** Whether `value` really is what the name of its class says. */
export function isBinary(value: object, name: string): value is ArrayBuffer | ArrayBufferView {
  if (name === 'ArrayBuffer') return types.isArrayBuffer(value);
  if (name === 'DataView') return types.isDataView(value);
  return types.isTypedArray(value) && value[Symbol.toStringTag] === name;
}

/** The bytes, in the order this machine keeps numbers in: little-endian wherever Node.js is common. */
export function toBase64(value: ArrayBuffer | ArrayBufferView): string {
  const bytes = ArrayBuffer.isView(value)
    ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
    : Buffer.from(value);
  return bytes.toString('base64');
}

/** @throws DecodeError on what is not base64 to the last character: `Buffer.from` skips what it does not know */
export function bytesOf(base64: string): Buffer {
  const bytes = Buffer.from(base64, 'base64');
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  if (bytes.length !== (base64.length / 4) * 3 - padding) {
    throw new DecodeError('not base64');
  }
  return bytes;
}

/** The named view on a buffer of its own. */
export function binaryOf(name: string, base64: string): ArrayBuffer | ArrayBufferView {
  const bytes = bytesOf(base64);
  const buffer = new ArrayBuffer(bytes.length);
  bytes.copy(new Uint8Array(buffer));
  if (name === 'ArrayBuffer') return buffer;
  // The names are those of global classes, which an older platform may lack.
  const view = (globalThis as unknown as Record<string, BinaryView | undefined>)[name];
  if (view === undefined) throw new DecodeError(`this platform has no ${name}`);
  return new view(buffer);
}
