import { Slot, type Awaiting, type Home } from './slot.js';

/**
 * Whether no slot of this pool can come free: every load that has one waits, over any number of loads and queues, for a slot of
 * pools that are in the same plight. None of them calls its origin then.
 */
export function isStuck(home: Home): boolean {
  return !moves(home, new Set());
}

function moves(home: Home, seen: Set<Home | Slot>): boolean {
  if (home.hasRoom) return true;
  if (seen.has(home)) return false;
  seen.add(home);
  for (const slot of home.held) if (slotMoves(slot, seen)) return true;
  return false;
}

function slotMoves(slot: Slot, seen: Set<Home | Slot>): boolean {
  if (seen.has(slot)) return false;
  seen.add(slot);
  const awaits = slot.awaits();
  return awaits.length === 0 || awaits.some((one) => awaitedMoves(one, seen));
}

function awaitedMoves(one: Awaiting, seen: Set<Home | Slot>): boolean {
  if (one === undefined) return true;
  return one instanceof Slot ? slotMoves(one, seen) : moves(one.home, seen);
}
