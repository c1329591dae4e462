const OLDEST = { Redis: [6, 2], Valkey: [7, 2] } as const;

/**
 * Judges a reply to INFO: why this server can't be used, or undefined. A server that does not say its version (a proxy)
 * is given the benefit of the doubt.
 */
export function refusedVersion(info: string): string | undefined {
  const valkey = /^valkey_version:(\S+)/m.exec(info)?.[1];
  const product = valkey === undefined && !/^server_name:valkey\b/m.test(info) ? 'Redis' : 'Valkey';
  const version = valkey ?? /^redis_version:(\S+)/m.exec(info)?.[1];
  const [major, minor] = (/^(\d+)\.(\d+)/.exec(version ?? '') ?? []).slice(1).map(Number);
  if (major === undefined || minor === undefined) return undefined;
  const [oldestMajor, oldestMinor] = OLDEST[product];
  if (major > oldestMajor || (major === oldestMajor && minor >= oldestMinor)) return undefined;
  return `the server is ${product} ${version}; this cache needs Redis >= 6.2 or Valkey >= 7.2`;
}
