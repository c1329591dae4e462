import type { Observable } from 'rxjs';
import type { StampedeCacheEvent } from '../../core/events/index.js';
import type { StampedeCache } from '../../core/stampede-cache.js';
import { SafeObservable } from './safe-observable.js';

/** A cache's events as an Observable. The cache builds them while somebody is subscribed. */
export function eventStream(
  cache: StampedeCache,
  warn: (message: string) => void,
): Observable<StampedeCacheEvent> {
  let complained = false;
  const complain = (error: unknown): void => {
    // Events come thousands a second: a broken listener is told of once.
    if (complained) return;
    complained = true;
    warn(`A subscriber of events$ failed and was ignored (told once): ${String(error)}`);
  };
  return new SafeObservable<StampedeCacheEvent>(complain, (subscriber) =>
    cache.listen((event) => subscriber.next(event)),
  );
}
