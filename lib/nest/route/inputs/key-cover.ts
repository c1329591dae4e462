/** Whether what `http.key` returned tells whom the credentials of a request stand for. */
export class KeyCover {
  private hasTold = false;

  /** @param where class and method, as messages name them */
  constructor(
    private readonly where: string,
    private readonly warn: (message: string) => void,
  ) {}

  /** Its author says who may share an entry; but nothing is nobody's word. Told of once. */
  isCovered(key: unknown, credentials: readonly string[]): boolean {
    if (credentials.length === 0 || !saysNothing(key)) return true;
    if (!this.hasTold) {
      this.hasTold = true;
      const sent = credentials.map((name) => `'${name}'`).join(' and ');
      this.warn(
        `${this.where}: http.key() returned ${spelled(key)} for a request with ${sent}, which says nothing of who asks, so the request went past the cache. Return what tells callers apart, or a word of your own such as 'all' where they may share; or give http.public: true.`,
      );
    }
    return false;
  }
}

/** Whether NaN is a part of a key: what was to be a number, and tells nothing apart. */
export function hasNaN(parts: readonly unknown[]): boolean {
  return parts.some((part) => (Array.isArray(part) ? part.some(Number.isNaN) : Number.isNaN(part)));
}

function saysNothing(key: unknown): boolean {
  return Array.isArray(key) ? key.every(isNothing) : isNothing(key);
}

function isNothing(part: unknown): boolean {
  return part === undefined || part === null || part === '' || Number.isNaN(part);
}

function spelled(key: unknown): string {
  if (Array.isArray(key)) return key.length === 0 ? 'an empty list' : `a list of ${spelled(key[0])} alone`;
  return key === '' ? 'an empty text' : String(key);
}
