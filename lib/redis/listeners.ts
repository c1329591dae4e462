import type { Cancel, Log } from '../core/ports.js';
import type { Signal, Wake } from '../core/store.js';
import { parseMessage } from './message.js';
import { reasonOf } from './redact.js';

type Listener<T> = (what: T) => void;

/** Who hears what arrives on the channel: waiters what concerns their entry, watchers all signals. */
export class Listeners {
  private readonly waiters = new Map<string, Set<Listener<Wake>>>();
  private readonly watchers = new Set<Listener<Signal>>();

  constructor(
    private readonly log: Log,
    /** What an epoch may be at most, server ms: an absurd one would make all entries unusable here for good. */
    private readonly latestEpoch: () => number,
  ) {}

  wait(id: string, listener: Listener<Wake>): Cancel {
    const known = this.waiters.get(id) ?? new Set();
    // A wrapper per call: one function registered twice is two registrations.
    const own: Listener<Wake> = (wake) => listener(wake);
    this.waiters.set(id, known.add(own));
    return () => {
      known.delete(own);
      if (known.size === 0 && this.waiters.get(id) === known) this.waiters.delete(id);
    };
  }

  watch(listener: Listener<Signal>): Cancel {
    const own: Listener<Signal> = (signal) => listener(signal);
    this.watchers.add(own);
    return () => void this.watchers.delete(own);
  }

  receive(text: string): void {
    const message = parseMessage(text, this.latestEpoch());
    if (message === undefined) return;
    if (message.signal !== undefined) this.tell(this.watchers, message.signal);
    else this.wake(message.id, message.wake);
  }

  private wake(id: string, wake: Wake): void {
    // `ended`: the entry is what it was.
    if (wake.kind !== 'ended') this.changed(id);
    this.tell(this.waiters.get(id), wake);
  }

  /** Somebody wrote or removed an entry's key. */
  changed(place: string): void {
    this.tell(this.watchers, { kind: 'entry', place });
  }

  /** Messages may have been missed. */
  gap(): void {
    this.tell(this.watchers, { kind: 'gap' });
    // Copies: whoever is woken may listen again at once.
    for (const set of Array.from(this.waiters.values())) this.tell<Wake>(set, { kind: 'unknown' });
  }

  clear(): void {
    this.waiters.clear();
    this.watchers.clear();
  }

  private tell<T>(set: ReadonlySet<Listener<T>> | undefined, what: T): void {
    for (const listener of Array.from(set ?? [])) {
      try {
        listener(what);
      } catch (error) {
        this.log.warn(`A listener failed on what it was told: ${reasonOf(error)}`);
      }
    }
  }
}
