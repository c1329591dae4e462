import { placeOf, type EntryKey } from '../keys/index.js';
import type { Flight } from './flight.js';

/** The running flights of this process that may be joined, at most one a key. */
export class FlightMap {
  private readonly flights = new Map<string, Flight>();

  get size(): number {
    return this.flights.size;
  }

  get(key: EntryKey): Flight | undefined {
    return this.flights.get(placeOf(key));
  }

  /** A newer flight takes the place of one that is under way. */
  add(flight: Flight): void {
    this.flights.set(placeOf(flight.key), flight);
  }

  /** Nobody joins this flight any more. Another flight of the key stays. */
  seal(flight: Flight): void {
    const place = placeOf(flight.key);
    if (this.flights.get(place) === flight) this.flights.delete(place);
  }

  /** Nobody joins the key's flight any more, whichever it is. */
  detach(key: EntryKey): void {
    this.flights.delete(placeOf(key));
  }

  /** Nobody joins a flight whose value will carry the tag. */
  detachTagged(id: string): void {
    for (const [place, { tags }] of this.flights) if (tags.includes(id)) this.flights.delete(place);
  }

  detachAll(): void {
    this.flights.clear();
  }
}
