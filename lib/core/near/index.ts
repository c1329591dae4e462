export { NearCache, type Fill } from './near-cache.js';
export { resolveNear, type NearLimits, type NearOptions } from './near-options.js';
