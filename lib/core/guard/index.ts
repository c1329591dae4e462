export { type BreakerState, type Verdict } from './breaker.js';
export { DEFAULT_POOL, type GuardLimits } from './limits.js';
export { LoadGuard } from './load-guard.js';
export { resolveLoads, type BreakerOptions, type LoadsOptions, type PoolOptions } from './loads-options.js';
export type { Awaiting, Home, Queued, Slot } from './slot.js';
export type { Ticket } from './ticket.js';
