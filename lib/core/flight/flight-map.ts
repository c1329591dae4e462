import type { EntryKey } from '../keys/index.js';
import type { Flight } from './flight.js';

/** The running flights of this process that may be joined, at most one a key. */
export class FlightMap {
  private readonly flights = new Map<string, Flight>();

  get size(): number {
    return this.flights.size;
  }

  get(key: EntryKey): Flight | undefined {
    return this.flights.get(key.id);
  }

  /** A newer flight takes the place of one that is under way. */
  add(flight: Flight): void {
    this.flights.set(flight.key.id, flight);
  }

  /** Nobody joins this flight any more. Another flight of the key stays. */
  seal(flight: Flight): void {
    if (this.flights.get(flight.key.id) === flight) this.flights.delete(flight.key.id);
  }

  /** Nobody joins the key's flight any more, whichever it is. */
  detach(key: EntryKey): void {
    this.flights.delete(key.id);
  }
}
