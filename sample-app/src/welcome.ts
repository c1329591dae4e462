export interface Welcome {
  readonly url: string;
  readonly database: string;
  readonly store?: string;
}

/** What the newcomer reads once the app is up. */
export function welcome({ url, database, store }: Welcome): string {
  return `The shop is open.

  Database:  ${database}
  Cache:     ${store ?? 'in this process only; set REDIS_URL to share it between processes'}

  Try these twice, and watch the queries in this log:

    curl ${url}/products/1
    curl ${url}/leaderboard
    curl ${url}/stats

  A hundred visitors at once, one query:

    seq 100 | xargs -P 100 -I@ curl -s -o /dev/null ${url}/leaderboard
`;
}
