/** A step from a key part to a value inside it: a property name or an index. */
export type PathSegment = string | number;

/** Thrown by the encoder for a value that has no canonical text: a key made from it could answer for another one. */
export class UnencodableKeyPart extends Error {
  override readonly name = 'UnencodableKeyPart';

  /** Where the value is, such as `[1].filter.user`: `''` is the part itself. A Map counts as its list of pairs, a Set as its list. */
  readonly path: string;

  /**
   * @param segments the steps of `path`; in an argument list the first one is the argument's index
   * @param what what was found there, with an article: "a function", "a Promise"
   */
  constructor(
    readonly segments: readonly PathSegment[],
    readonly what: string,
    options?: ErrorOptions,
  ) {
    const path = formatPath(segments);
    super(
      `A key part cannot be encoded: ${path === '' ? 'it' : path} is ${what}. ` +
        'Build the key from the values that identify the entry (ids, strings, numbers, plain objects).',
      options,
    );
    this.path = path;
  }
}

function formatPath(segments: readonly PathSegment[]): string {
  return segments.map(formatSegment).join('');
}

function formatSegment(segment: PathSegment): string {
  if (typeof segment === 'number') return `[${segment}]`;
  return /^[\w$]+(\(\))?$/.test(segment) ? `.${segment}` : `[${JSON.stringify(segment)}]`;
}
