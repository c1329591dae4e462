export { StoreFailure } from './store-failure.js';
export { StoreGate, type Budget, type StoreBudgets } from './store-gate.js';
export { TickReads, type ReadAnswer } from './tick-reads.js';
