import type { StoredEntry } from '../entry/index.js';
import type { ChainLink } from '../load/index.js';
import type { Request } from '../request.js';
import type { Engine } from './engine.js';
import { Flight } from './flight.js';
import { flyForeground } from './foreground.js';

/** The load of those who have waited long enough (`onWaitTimeout: 'load'`): one a process and key, guarded, not stored. */
export function detachedFlightOf(
  engine: Engine,
  request: Request,
  stale: StoredEntry | undefined,
  parent: ChainLink | undefined,
): { readonly flight: Flight; readonly leads: boolean } {
  const running = engine.detached.get(request.key);
  if (running) return { flight: running, leads: false };
  const flight = new Flight(request.key, 'foreground');
  engine.detached.add(flight);
  const budget = engine.gate.budget();
  const departure = {
    stale,
    hasStale: false,
    rejectedId: '',
    since: undefined,
    parent,
    budget,
    reason: 'wait_timeout',
    leaseless: true,
  } as const;
  engine.background.own(flyForeground(engine, flight, request, departure));
  return { flight, leads: true };
}
