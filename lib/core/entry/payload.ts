import {
  copyTree,
  decodeText,
  decodeValue,
  deepFreeze,
  encodeValue,
  freezeJson,
  isTree,
  textOf,
} from '../codec/index.js';
import type { ResolvedPolicy, Serializer } from '../policy/index.js';
import type { Codec } from './header.js';

/** How to read a value back. */
export type ValueFormat = Pick<ResolvedPolicy, 'types' | 'serializer' | 'shared' | 'isLasting' | 'lends'>;

/** Values take one to two times their JSON, but for lists of tiny things. */
export const MOST_KEPT = 3;

/** A value at rest. Every reader gets a copy of its own, or all share one frozen value. */
export interface Payload {
  /** What each reader's copy is made from, bytes; 0: there are no copies. */
  readonly size: number;
  /** @throws if the bytes can't be read: the entry is as good as absent */
  read(format: ValueFormat): unknown;
}

/** A value as bytes. */
export class EncodedPayload implements Payload {
  private frozen: { readonly value: unknown } | undefined;
  private lasting: { readonly value: unknown; readonly serializer: unknown } | undefined;
  private reads = 0;
  private text: string | undefined;
  private tree: { readonly value: unknown } | undefined;

  constructor(
    readonly codec: Codec,
    readonly bytes: Buffer,
    readonly serializer: string | undefined,
    /** From its second read on it keeps what makes the next ones cheap: up to so many times its bytes. */
    private readonly mostKept = MOST_KEPT,
  ) {}

  get size(): number {
    return this.bytes.length;
  }

  read(format: ValueFormat): unknown {
    if (!format.shared) return this.decode(format);
    this.frozen ??= { value: this.decodeFrozen(format) };
    return this.frozen.value;
  }

  private decodeFrozen(format: ValueFormat): unknown {
    const value = this.decode(format);
    return this.serializer === undefined && this.codec === 'j' ? freezeJson(value) : deepFreeze(value);
  }

  private decode(format: ValueFormat): unknown {
    const { serializer } = format;
    if (serializer?.name === this.serializer) {
      return serializer ? this.decodeBy(serializer, format) : this.decodeOwn(format);
    }
    // `undefined` is written without one.
    if (this.serializer === undefined && this.decodeOwn(format) === undefined) return undefined;
    throw new Error(`Written by the serializer ${String(this.serializer)}.`);
  }

  private decodeBy(serializer: Serializer, { isLasting, lends }: ValueFormat): unknown {
    if (this.lasting?.serializer === serializer) return this.lasting.value;
    // A serializer may hand its input through; the bytes at rest are nobody's.
    const value = serializer.decode(lends === true ? this.bytes : Buffer.from(this.bytes));
    if (isLasting?.(value) === true) this.lasting = { value, serializer };
    return value;
  }

  private decodeOwn({ types }: ValueFormat): unknown {
    if (this.tree !== undefined) return copyTree(this.tree.value);
    this.reads += 1;
    if (this.reads === 1 || this.mostKept === 0) return decodeValue(this.codec, this.bytes, types);
    this.text ??= textOf(this.bytes);
    const value = decodeText(this.codec, this.text, types);
    if (this.reads !== 2 || !isTree(value, this.mostKept * this.bytes.length)) return value;
    this.tree = { value };
    this.text = undefined;
    return copyTree(value);
  }
}

/** A value that can't be copied: all callers of its load share it. */
export class SharedPayload implements Payload {
  readonly size = 0;

  constructor(private readonly value: unknown) {}

  read(): unknown {
    return this.value;
  }
}

/** Turns a value into bytes. @throws UncacheableValue, or whatever a custom serializer throws */
export function encodePayload(value: unknown, format: ValueFormat): EncodedPayload {
  const { serializer } = format;
  // Few serializers know `undefined`, and what was not found must be kept all the same.
  if (serializer === undefined || value === undefined) {
    const { codec, bytes } = encodeValue(value, format.types);
    return new EncodedPayload(codec, bytes, undefined);
  }
  return new EncodedPayload('x', Buffer.from(serializer.encode(value)), serializer.name);
}
