export { EventBus } from './event-bus.js';
export type { EventListener, LoadReason, StampedeCacheEvent } from './events.js';
export { newCounters, type Counters, type StampedeCacheStats } from './stats.js';
