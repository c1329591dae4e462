export {
  countWait,
  isInside,
  LoadChain,
  wouldDeadlock,
  awaitedBy,
  type Awaited,
  type ChainLink,
} from './load-chain.js';
export {
  NO_WISHES,
  tagAsOwn,
  NOT_MODIFIED,
  RunningLoadContext,
  type InferringLoadContext,
  type LoadContext,
  type LoadWishes,
} from './load-context.js';
export type { BatchMember, LoadSlot, Place, SharedLoad } from './load-slot.js';
export { LeaseKeeper, type Lease } from './lease-keeper.js';
export { runLoad, type LoadResult, type RunningLoad } from './run-load.js';
