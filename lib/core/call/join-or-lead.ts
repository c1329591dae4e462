import { Flight, flyForeground, type Departure, type Engine } from '../flight/index.js';
import type { Request } from '../request.js';
import { judge } from './answers.js';

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

/** The flight that will do for this call, if one is under way. */
export function joinable(engine: Engine, { key, call }: Request): Flight | undefined {
  if (!call.fresh) return engine.foreground.get(key) ?? engine.refreshes.get(key) ?? engine.forced.get(key);
  const running = engine.forced.get(key);
  // Only a flight that has neither asked nor begun is sure to bring a load begun after this call.
  return running && !running.asked && running.begunAt === undefined ? running : undefined;
}

/** A foreground load runs here, and nothing its leader saw in the store would do for this call: a read tells no more. */
export function joinsUnread(engine: Engine, request: Request): boolean {
  if (request.call.fresh || request.policy.coordinate === 'none') return false;
  const running = engine.foreground.get(request.key);
  if (running === undefined) return false;
  const held = running.held && judge(engine, running.held, request);
  return held !== 'fresh' && held !== 'stale';
}
