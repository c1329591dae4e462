import { BUSY } from './bodies.mjs';

/** The page of documentation that a run makes of its table. */
export function page(tables, { rounds, seconds, connections, processor }) {
  return `# What a cached route costs

<!-- Made by \`npm run bench:http -- --docs=docs\`; do not edit. -->

Requests a second over loopback, ${connections} connections (autocannon), ${rounds} rounds of ${seconds} s in which the cases take turns; medians. A ratio
is the median of the ratios within each round. Applications of NestJS in a process each, over one Redis; ${new Date().toISOString().slice(0, 10)}; Node.js
${process.versions.node}, ${processor}.

| case | what answers |
| --- | --- |
| constant | a handler returns an object; no interceptor |
| empty interceptor | an interceptor that returns the same object: what being intercepted costs |
| interceptor | an interceptor that knows the text already and sends it, with as many headers as ours: no cache, no key. The least that a hit of any interceptor costs |
| busy interceptor | the bare interceptor that computes for ${BUSY} µs besides, about what our hit in the process computes |
| hot | \`@CachedRoute\` with \`l1\`: a copy in the process |
| hot in Redis | \`@CachedRoute\` without copies: read from Redis |
| official hot | the \`CacheInterceptor\` of \`@nestjs/cache-manager\` on \`@keyv/redis\` |
| getBuffer | a handler reads one of 1,000 keys with ioredis and sends the bytes |
| interceptor, getBuffer | the bare interceptor, which reads so |
| keys | \`@CachedRoute\` without copies, 1,000 keys |
| official keys | the official interceptor, 1,000 keys |

NestJS wraps every request of a route that has interceptors, whatever they do; that is what "empty interceptor / constant" shows, and no interceptor can win it back.
The client is one process on the same machine: what is faster than it can send is told too low. A server that is slower than its
client wakes it with every answer, and on a virtual machine that costs the server more than what made it slower: compare the busy interceptor with the bare one. Answers that come back from Redis
together leave together and wake the client once, so that a read from Redis can outrun a copy in the process, and the bare interceptor.
${tables}
`;
}
