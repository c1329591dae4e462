import { Flight, flyForeground, type Departure, type Engine } from '../flight/index.js';
import type { Request } from '../request.js';

/** What a call knows before it joins or leads a flight. */
export interface Boarding extends Omit<Departure, 'reason'> {
  readonly arrival: number;
}

/** A running flight that will do for this call, or a new one that it leads. Registered before anything is awaited. */
export function joinOrLead(
  engine: Engine,
  request: Request,
  boarding: Boarding,
): { readonly flight: Flight; readonly leads: boolean } {
  const { key, policy, call } = request;
  const alone = policy.coordinate === 'none' || boarding.leaseless;
  const running = alone ? undefined : joinable(engine, request);
  if (running) return { flight: running, leads: false };
  const flight = new Flight(key, call.fresh ? 'forced' : 'foreground');
  if (!alone) engine.foreground.add(flight);
  engine.background.own(
    flyForeground(engine, flight, request, { ...boarding, reason: call.fresh ? 'forced' : 'miss' }),
  );
  return { flight, leads: true };
}

function joinable(engine: Engine, { key, call }: Request): Flight | undefined {
  const running = engine.foreground.get(key);
  if (!call.fresh) return running ?? engine.refreshes.get(key);
  // Only a forced flight that has not asked yet is sure to bring a load begun after this call.
  return running?.kind === 'forced' && !running.asked ? running : undefined;
}
