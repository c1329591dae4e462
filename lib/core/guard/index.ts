export { LoadGuard, type GuardLimits } from './load-guard.js';
export type { Slot } from './slot.js';
export type { Ticket } from './ticket.js';
