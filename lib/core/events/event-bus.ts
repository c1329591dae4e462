import type { Cancel, Log, Runtime } from '../ports.js';
import { show } from '../show.js';
import type { EventListener, StampedeCacheEvent } from './events.js';

const COMPLAIN_EVERY_MS = 60_000;

/** Hands events to listeners. A listener that throws or rejects changes nothing but the log, once a minute at most. */
export class EventBus {
  private readonly listeners = new Set<EventListener>();
  private quietUntil = -Infinity;
  private readonly log: Log;

  constructor(private readonly runtime: Runtime) {
    this.log = runtime.log;
  }

  /** Ask before building an event. */
  get active(): boolean {
    return this.listeners.size > 0;
  }

  listen(listener: EventListener): Cancel {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  emit(event: StampedeCacheEvent): void {
    for (const listener of this.listeners) {
      try {
        const result = listener(event);
        if (isThenable(result)) result.then(undefined, (error: unknown) => this.complain(event, error));
      } catch (error) {
        this.complain(event, error);
      }
    }
  }

  private complain(event: StampedeCacheEvent, error: unknown): void {
    const now = this.runtime.clock.now();
    if (now < this.quietUntil) return;
    this.quietUntil = now + COMPLAIN_EVERY_MS;
    this.log.warn(`A listener of events$ failed on ${event.type} and was ignored: ${show(error)}`);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
