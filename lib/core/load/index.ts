export { countWait, isInside, LoadChain, wouldDeadlock, type Awaited, type ChainLink } from './load-chain.js';
export type { InferringLoadContext, LoadContext, LoadWishes } from './load-context.js';
export { LeaseKeeper, type Lease } from './lease-keeper.js';
export { runLoad, type LoadResult, type RunningLoad } from './run-load.js';
