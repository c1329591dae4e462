export { isSoft, labelOf, type About, type Change } from './change.js';
export { Deferrals, inOrder } from './deferral.js';
