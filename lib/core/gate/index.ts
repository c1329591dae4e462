export { isAnswer } from './illness.js';
export { Reachability } from './reachability.js';
export { StoreFailure } from './store-failure.js';
export { StoreGate, type Budget, type StoreBudgets } from './store-gate.js';
