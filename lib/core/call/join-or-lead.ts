import { Flight, flyForeground, type Departure, type Engine } from '../flight/index.js';
import type { Request } from '../request.js';

/** What a call knows before it joins or leads a flight. */
export interface Boarding extends Omit<Departure, 'reason' | 'leaseless'> {
  readonly arrival: number;
}

/** A running flight that will do for this call, or a new one that it leads. Registered before anything is awaited. */
export function joinOrLead(
  engine: Engine,
  request: Request,
  boarding: Boarding,
): { readonly flight: Flight; readonly leads: boolean } {
  const { key, policy, call } = request;
  const alone = policy.coordinate === 'none';
  const running = alone ? undefined : joinable(engine, request);
  if (running) {
    request.batch?.settle();
    return { flight: running, leads: false };
  }
  const flight = new Flight(key, call.fresh ? 'forced' : 'foreground', boarding.stale);
  if (!alone) (call.fresh ? engine.forced : engine.foreground).add(flight);
  engine.background.own(
    flyForeground(engine, flight, request, {
      ...boarding,
      leaseless: false,
      reason: call.fresh ? 'forced' : 'miss',
    }),
  );
  // What leads has its place by now.
  request.batch?.settle();
  return { flight, leads: true };
}

function joinable(engine: Engine, { key, call }: Request): Flight | undefined {
  if (!call.fresh) return engine.foreground.get(key) ?? engine.refreshes.get(key) ?? engine.forced.get(key);
  const running = engine.forced.get(key);
  // Only a flight that has neither asked nor begun is sure to bring a load begun after this call.
  return running && !running.asked && running.begunAt === undefined ? running : undefined;
}
