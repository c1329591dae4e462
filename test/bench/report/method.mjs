export const METHOD = `How fast this package is beside what it can't beat (raw ioredis, a \`Map\`) and beside other caches for Node.js, and what each
does to the database and to its callers when things go wrong. \`npm run bench\` measures all of it in one run and writes this page.

## How it is measured

- Everything runs on one machine: a Redis server of the run's own on loopback, without persistence, and forked processes. Each
  configuration has a process of its own (four for the scenarios that say so), so that one library's garbage and compiled code
  do not colour another's figures.
- **The configurations take turns**, A B C A B C, for so many rounds; whatever else the machine does meets all of them. Figures are
  medians over the rounds. A ratio is the median of the ratios within each round. Throughput has a warm-up round.
- **Open loops** where latency is the figure: calls come at random moments at their rate, whether or not earlier ones were
  answered, and latency counts from the moment a call was meant to begin. Timers add up to a millisecond, to the limit as well.
- Closed loops where throughput is. \`tinybench\` measures hits in the process and calls for many ids.
- Libraries run with their defaults, but for the ttl and stale window of a scenario and 10,000 entries in each in-process layer.
  Ours is the built package, imported by its name into an application of NestJS: \`forRoot({ redis, namespace })\`, with
  \`l1: {}\` where the row says so, called through \`StampedeCacheService\` or a method with \`@Cached\`.
- Each library uses the client it declares: bentocache ioredis 5, cacheable and cache-manager node-redis, everything else ioredis 6.
- Latencies are milliseconds. The load of the database is a timer: it waits and computes nothing.`;

export const NOT_COMPARABLE = `## What is not comparable

- **What a hit is worth.** Ours checks that the entry still counts (tags, epochs, soft expiry) and gives each caller a value of its
  own with its types; raw \`GET\` and \`JSON.parse\` does neither. layered-loader, async-cache-dedupe and cache-manager hand one
  mutable object to callers of the same moment, which costs less.
- **Async storage.** Up to Node.js 23 the first \`AsyncLocalStorage\` makes every promise of its process dearer. Ours uses one; so do
  most applications (request contexts, tracing), but no other row here. The rows "async storage" are the limits in a process that
  has one; targets and ratios are to the limits without.
- **Stale windows.** \`grace\` of bentocache counts from the write; cache-manager and layered-loader only refresh ahead, within a
  longer ttl; async-cache-dedupe knows whole seconds. The windows are set so that refreshes begin at the same age.
- **A lease has its price.** Who takes none over the fleet loads once a process (or once a caller), and waits for nobody when a
  process dies.
- **Redis ill.** A client with its defaults waits for Redis as long as it takes; many set it up otherwise, so peers run both ways.
  A call that fails quickly is not served. A memory tier of a peer goes on with what it holds, whether or not it still counts;
  ours believes a copy for \`coherence.maxLag\` without word from Redis, and loads then.
- \`@epic-web/cachified\` ships no adapter for ioredis; the one here is a dozen lines. cacheable could tell other processes of
  changes with a further package, which is not used.
- Loopback and two cores make Redis and the network look cheap, and neighbours of a shared machine make tails look bad. Compare
  figures within a table, never with another run's.`;
