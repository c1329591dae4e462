/** A value that can't be stored so that what comes back equals it. Internal: the engine wraps it for the caller. */
export class UncacheableValue extends Error {
  override readonly name = 'UncacheableValue';

  /** `path`: where in the value, as in `items[3].price`; the empty text is the value itself. */
  constructor(
    readonly path: string,
    readonly what: string,
    readonly fix: string,
    options?: ErrorOptions,
  ) {
    super(`${path === '' ? 'the value itself' : path} is ${what}: ${fix}`, options);
  }
}

/** Bytes that no encoder of this version wrote, or whose classes the reader does not know. Internal: a miss. */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
}

/** A `type` option that says nothing sensible. Internal: the policy wraps it. */
export class CodecConfigurationError extends Error {
  override readonly name = 'CodecConfigurationError';
}
