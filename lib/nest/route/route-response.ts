import { decodeValue, encodeValue, UncacheableValue, type TypeMap } from '../../core/codec/index.js';
import { UncacheableValueError } from '../../core/errors.js';
import type { Serializer } from '../../core/policy/index.js';
import type { ResponseHead } from './contracts.js';

/** A response as it is cached, and as every request of its key gets it. */
export class RouteResponse {
  constructor(
    readonly head: ResponseHead,
    /** The handler's value; undefined with `text`, which is parsed for each who asks. */
    private readonly value: unknown,
    /** The value as JSON, as it is sent. */
    readonly text: string | undefined,
    readonly etag: string | undefined,
  ) {}

  /** The handler's value, or a copy of it. */
  get body(): unknown {
    if (this.text === undefined || this.value !== undefined) return this.value;
    return JSON.parse(this.text) as unknown;
  }
}

/** What a load returns for an answer that is for one request alone: callers that only joined ask the handler themselves. */
export class NotForOthers {
  /** @param reason in a word, of a response that carries caching headers; undefined: of anything else, which is as without us */
  constructor(readonly reason?: string) {}
}

/** How the body stands behind the head: ready JSON text, a Buffer, a value in the core's codec, or in the user's own. */
type BodyKind = 'text' | 'bytes' | 'j' | 't' | 'own';

type WrittenHead = readonly [status: number, headers: ResponseHead['headers'], kind: BodyKind];

/** A head that was read. Those of one route are alike, and the last is not parsed again. */
interface ReadHead {
  readonly text: string;
  readonly head: ResponseHead;
  readonly kind: BodyKind;
}

/** Of the head, and of head and `ETag`. */
const LENGTH_DIGITS = 8;
const LENGTHS = 2 * LENGTH_DIGITS;

/**
 * Responses as bytes: 8 digits with the length of the head, 8 with that of head and `ETag`, the head as JSON, the `ETag`, the body.
 * @param hint what to say of an instance without `type`
 */
export function responseSerializer(
  where: string,
  types: TypeMap | undefined,
  own: Serializer | undefined,
  hint: string,
): Serializer {
  let last: ReadHead = { text: '', head: { status: 0, headers: [] }, kind: 'text' };
  return {
    name: own === undefined ? 'response' : `response/${own.name}`,

    encode(value) {
      if (value instanceof NotForOthers)
        throw new UncacheableValueError(`${where}: an answer for one request.`, '');
      const response = value as RouteResponse; // what the loads of a route return
      const { head, etag = '' } = response;
      const { kind, bytes } = encodeBody(response, types, own, where, hint);
      const written: WrittenHead = [head.status, head.headers, kind];
      const text = JSON.stringify(written);
      const length = Buffer.byteLength(text);
      const lengths = digitsOf(length) + digitsOf(length + Buffer.byteLength(etag));
      return Buffer.concat([Buffer.from(lengths + text + etag), bytes]);
    },

    decode(given) {
      const bytes = given as Buffer; // what the engine hands out
      const end = LENGTHS + Number(bytes.toString('latin1', 0, LENGTH_DIGITS));
      const start = LENGTHS + Number(bytes.toString('latin1', LENGTH_DIGITS, LENGTHS));
      const text = bytes.toString('utf8', LENGTHS, end);
      if (text !== last.text) last = readHead(text);
      const { head, kind } = last;
      const etag = start === end ? undefined : bytes.toString('utf8', end, start);
      if (kind === 'text') return new RouteResponse(head, undefined, bytes.toString('utf8', start), etag);
      return new RouteResponse(head, decodeBody(kind, bytes.subarray(start), types, own), undefined, etag);
    },
  };
}

function digitsOf(length: number): string {
  return String(length).padStart(LENGTH_DIGITS, '0');
}

function readHead(text: string): ReadHead {
  const [status, headers, kind] = JSON.parse(text) as WrittenHead;
  return { text, head: { status, headers }, kind };
}

function encodeBody(
  { body, text }: RouteResponse,
  types: TypeMap | undefined,
  own: Serializer | undefined,
  where: string,
  hint: string,
): { readonly kind: BodyKind; readonly bytes: Uint8Array } {
  if (own !== undefined && text === undefined) return { kind: 'own', bytes: own.encode(body) };
  if (Buffer.isBuffer(body)) return { kind: 'bytes', bytes: body };
  const { codec, bytes } = faithfully(body, types, where, hint);
  // Encoded all the same: what the codec refuses would look different after a hit.
  return text === undefined ? { kind: codec, bytes } : { kind: 'text', bytes: Buffer.from(text) };
}

function faithfully(
  body: unknown,
  types: TypeMap | undefined,
  where: string,
  hint: string,
): ReturnType<typeof encodeValue> {
  try {
    return encodeValue(body, types);
  } catch (cause) {
    if (!(cause instanceof UncacheableValue)) throw cause;
    const at = cause.path === '' ? 'the response' : `the response at ${cause.path}`;
    const advice = cause.what.startsWith('an instance of ') ? hint : '';
    throw new UncacheableValueError(
      `${where}: ${at} is ${cause.what} and can't be cached. ${advice}${cause.fix}`,
      cause.path,
      { cause },
    );
  }
}

function decodeBody(
  kind: BodyKind,
  bytes: Buffer,
  types: TypeMap | undefined,
  own: Serializer | undefined,
): unknown {
  // A copy: the engine hands out its own bytes to nobody.
  if (kind === 'bytes') return Buffer.from(bytes);
  if (kind !== 'own') return decodeValue(kind, bytes, types);
  if (own === undefined) throw new Error('Written by a serializer that this route does not have.');
  // It may keep what it gets.
  return own.decode(Buffer.from(bytes));
}
