export { readConnection, type ClusterOption } from './connection-option.js';
export { redact } from './redact.js';
export type { RedisLike, SingleLike, ClusterLike, ClientLike } from './redis-like.js';
export { createRedisStore, RedisStore } from './redis-store.js';
export type { RedisStoreOptions, StateListener } from './redis-store-options.js';
export { StoreUnavailable } from './store-unavailable.js';
