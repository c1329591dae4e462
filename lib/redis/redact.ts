/** Takes credentials out of text that may hold a connection URL. */
export function redact(text: string): string {
  return (
    text
      // Up to the last @: a password in clear may hold slashes.
      .replace(/\/\/\S*@/g, '//***@')
      // And of a URL that lost its slashes, or its scheme: ioredis takes it for a host or the path of a socket.
      .replace(/(^|[\s/'"(])[^\s/'"@:]*:(?!\/\/)[^\s'"@]*@/g, '$1***@')
      .replace(/((?:password|username|auth)["']?\s*[=:]\s*["']?)[^&\s"',}]+/gi, '$1***')
  );
}

/** The message of whatever was thrown, without credentials. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return redact(String(error));
  // A connection refused on every address of a host is an AggregateError without a message of its own.
  const code = 'code' in error && typeof error.code === 'string' ? error.code : error.name;
  return redact(error.message === '' ? code : error.message);
}
