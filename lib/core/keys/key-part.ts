/**
 * One value that identifies an entry: a primitive, bigint, `Date`, `RegExp`, `URL`, `Buffer` or typed array, an array,
 * `Map`, `Set`, plain object, a DTO instance (by its own enumerable properties) or an instance with `toJSON()`.
 *
 * `object` stands in the union because interfaces and DTO classes have no index signature. What cannot be encoded
 * (functions, symbols, streams, emitters, promises, `#private` state, no own property, circular) is refused at run time.
 */
export type KeyPart =
  | string
  | number
  | bigint
  | boolean
  | null
  | undefined
  | Date
  | RegExp
  | URL
  | Uint8Array
  | readonly KeyPart[]
  | ReadonlyMap<KeyPart, KeyPart>
  | ReadonlySet<KeyPart>
  | { readonly [property: string]: KeyPart }
  | object;

/** The key of an entry: one part, or a list of parts. `'a'` and `['a']` are two different keys. */
export type Key = KeyPart | readonly KeyPart[];
