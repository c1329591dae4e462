import { UnencodableKeyPart, type PathSegment } from './unencodable-key-part.js';

/** Levels of nesting a key part may have; deeper ones are refused before the call stack is. */
export const MAX_DEPTH = 100;

/** Where the encoder stands inside one part: the way down to it, and the objects passed on that way. */
export class Walk {
  private readonly path: PathSegment[] = [];
  private readonly holders: object[] = [];

  /** Goes from the current holder to one of its members. */
  down(segment: PathSegment): void {
    this.path.push(segment);
  }

  up(): void {
    this.path.pop();
  }

  /** Must be called for each object before its members are read; protects against cycles and a full call stack. */
  enter(holder: object): void {
    if (this.holders.includes(holder)) this.refuse('a circular reference');
    if (this.holders.length >= MAX_DEPTH) this.refuse(`nested deeper than ${MAX_DEPTH} levels`);
    this.holders.push(holder);
  }

  leave(): void {
    this.holders.pop();
  }

  refuse(what: string, cause?: unknown): never {
    throw new UnencodableKeyPart([...this.path], what, cause === undefined ? undefined : { cause });
  }
}
