import { deepFreeze, decodeValue, encodeValue } from '../codec/index.js';
import type { ResolvedPolicy } from '../policy/index.js';
import type { Codec } from './header.js';

/** How to read a value back. */
export type ValueFormat = Pick<ResolvedPolicy, 'types' | 'serializer' | 'shared'>;

/** A value at rest. Every reader gets a copy of its own, or all share one frozen value. */
export interface Payload {
  /** @throws if the bytes can't be read: the entry is as good as absent */
  read(format: ValueFormat): unknown;
}

/** A value as bytes. */
export class EncodedPayload implements Payload {
  private frozen: { readonly value: unknown } | undefined;

  constructor(
    readonly codec: Codec,
    readonly bytes: Buffer,
    readonly serializer: string | undefined,
  ) {}

  read(format: ValueFormat): unknown {
    if (!format.shared) return this.decode(format);
    this.frozen ??= { value: deepFreeze(this.decode(format)) };
    return this.frozen.value;
  }

  private decode(format: ValueFormat): unknown {
    const { serializer, types } = format;
    if (serializer?.name !== this.serializer)
      throw new Error(`Written by the serializer ${String(this.serializer)}.`);
    // A serializer may hand its input through; the bytes at rest are nobody's.
    return serializer === undefined
      ? decodeValue(this.codec, this.bytes, types)
      : serializer.decode(Buffer.from(this.bytes));
  }
}

/** A value that can't be copied: all callers of its load share it. */
export class SharedPayload implements Payload {
  constructor(private readonly value: unknown) {}

  read(): unknown {
    return this.value;
  }
}

/** Turns a value into bytes. @throws UncacheableValue, or whatever a custom serializer throws */
export function encodePayload(value: unknown, format: ValueFormat): EncodedPayload {
  const { serializer } = format;
  if (serializer === undefined) {
    const { codec, bytes } = encodeValue(value, format.types);
    return new EncodedPayload(codec, bytes, undefined);
  }
  return new EncodedPayload('x', Buffer.from(serializer.encode(value)), serializer.name);
}
