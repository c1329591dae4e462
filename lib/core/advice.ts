import type { Runtime } from './ports.js';

/** Distinct pieces of advice remembered at most: what varies without end must not be held without end. */
const CAPACITY = 1_000;
const REPEAT_AFTER = 60_000;

/** Log lines that would drown the log if every occurrence wrote one. */
export class Advice {
  private readonly given = new Set<string>();
  private readonly quietUntil = new Map<string, number>();

  constructor(private readonly runtime: Runtime) {}

  /** Says a thing once per place and cause. */
  once(where: string, cause: string, message: string): void {
    const about = `${where}\n${cause}`;
    if (this.given.has(about) || this.given.size >= CAPACITY) return;
    this.given.add(about);
    this.runtime.log.warn(message);
  }

  /** Says what goes on happening at most once a minute per place. `message` is built only then. True: it was said. */
  sometimes(where: string, message: () => string): boolean {
    const now = this.runtime.clock.now();
    if (now < (this.quietUntil.get(where) ?? -Infinity)) return false;
    this.quietUntil.delete(where);
    this.quietUntil.set(where, now + REPEAT_AFTER);
    const [oldest] = this.quietUntil.keys();
    if (this.quietUntil.size > CAPACITY && oldest !== undefined) this.quietUntil.delete(oldest);
    this.runtime.log.warn(message());
    return true;
  }
}
