import type { Advice } from '../advice.js';
import type { Clock, Log } from '../ports.js';
import { isGeneral } from './illness.js';

/** Refusals in a row after which an operation rests. */
const IN_A_ROW = 5;
/** How long it rests; then one such operation asks again, ms. */
const REST = 1_000;

interface Refused {
  inARow: number;
  restUntil: number;
  /** What was said last. */
  message: string;
  /** Those of one state of the server share it. */
  readonly state: string;
}

/**
 * A breaker over what one server refuses to do (READONLY, OOM, NOPERM …), each operation for itself: one that is full still
 * reads. A refusal costs a round trip and no waiting, so calls themselves find out when it ends, one a second.
 */
export class Refusals {
  private readonly refused = new Map<string, Refused>();
  /** States that the log has. */
  private readonly said = new Set<string>();

  constructor(
    /** The server, as the log calls it. */
    private readonly store: string,
    private readonly clock: Clock,
    private readonly log: Log,
    private readonly advice: Advice,
  ) {}

  get isNone(): boolean {
    return this.refused.size === 0;
  }

  /** What the operation would hear, while it need not ask. */
  barrier(what: string): string | undefined {
    const known = this.refused.get(what);
    if (known === undefined || known.inARow < IN_A_ROW) return undefined;
    const now = this.clock.now();
    if (now < known.restUntil) return known.message;
    known.restUntil = now + REST;
    return undefined;
  }

  add(what: string, code: string, said: string): void {
    const known = this.refused.get(what);
    // What Redis says of the script means nothing to anybody.
    const message = said
      .replace(/ script: .*$/, '')
      .replace(/\.+$/, '')
      .slice(0, 200);
    const restUntil = this.clock.now() + REST;
    if (known) {
      known.inARow += 1;
      Object.assign(known, { message, restUntil });
      return;
    }
    const state = isGeneral(code) ? code : `${code} ${what}`;
    this.refused.set(what, { inARow: 1, restUntil, message, state });
    if (this.said.has(state)) return;
    // One that is all but full refuses every other time: the log need not follow.
    const isSaid = this.advice.sometimes(
      `${this.store} refused ${state}`,
      () => `${this.store} refuses to ${what}: ${message}. Calls go on without it.`,
    );
    if (isSaid) this.said.add(state);
  }

  /** It was carried out. */
  accepted(what: string): void {
    const known = this.refused.get(what);
    if (known === undefined) return;
    // The same state refused the others too, and they may never be tried again.
    for (const [other, { state }] of this.refused) if (state === known.state) this.refused.delete(other);
    if (this.said.delete(known.state)) this.log.info(`${this.store} accepts to ${what} again.`);
  }
}
