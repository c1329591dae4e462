/** Calls by command, in lower case as Redis writes them: `get`, `evalsha`, `config|resetstat`. */
export type CommandCounts = Readonly<Record<string, number>>;

/** Reads the reply of INFO commandstats: lines such as `cmdstat_get:calls=3,usec=12,...`. */
export function parseCommandStats(info: string): CommandCounts {
  const lines = info.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm);
  return Object.fromEntries([...lines].map(([, command, calls]) => [command, Number(calls)]));
}
