import { nothing } from '../nothing.js';
import type { Cancel, Runtime } from '../ports.js';

/** Silent operations in a row after which a server is not asked any more. */
const SILENT_IN_A_ROW = 5;
/** The first probe after it fell silent, ms; each later one waits twice as long, up to the last. */
const FIRST_PROBE = 200;
const LAST_PROBE = 1_000;
/** After so many probes in vain, and again after as many more, its connection is made anew. */
const PROBES_TO_RECONNECT = 3;

export interface ServerProbes {
  /** Resolves when the server answered, in time. */
  probe(): Promise<unknown>;
  /** The connection may be dead and look alive: a new one is made, if it is ours to make. */
  reconnect(): void;
  onSilent(): void;
  /** After so many ms of silence. */
  onAnswer(ms: number): void;
}

/**
 * A breaker over one server's silence. It opens after a few operations in a row without an answer in time. No call serves as
 * the probe that closes it again: whoever waited for a silent server would wait in vain.
 */
export class ServerHealth {
  private inARow = 0;
  private silentSince: number | undefined;
  private probes = 0;
  private cancel: Cancel = nothing;

  constructor(
    private readonly runtime: Runtime,
    private readonly events: ServerProbes,
  ) {}

  get isSilent(): boolean {
    return this.silentSince !== undefined;
  }

  /** An operation had no answer in time. */
  silent(): void {
    this.inARow += 1;
    if (this.isSilent || this.inARow < SILENT_IN_A_ROW) return;
    this.silentSince = this.runtime.clock.now();
    this.probes = 0;
    this.events.onSilent();
    this.probeLater();
  }

  /** It answered, in time. */
  answered(): void {
    this.inARow = 0;
    if (this.silentSince === undefined) return;
    const ms = this.runtime.clock.now() - this.silentSince;
    this.silentSince = undefined;
    this.cancel();
    this.events.onAnswer(ms);
  }

  close(): void {
    this.cancel();
    this.silentSince = undefined;
    this.inARow = 0;
  }

  private probeLater(): void {
    const ms = Math.min(FIRST_PROBE * 2 ** this.probes, LAST_PROBE);
    this.cancel = this.runtime.timers.after(ms, () => this.probe(), true);
  }

  private probe(): void {
    const asked = this.silentSince;
    this.events.probe().then(
      () => {
        if (this.silentSince === asked) this.answered();
      },
      () => {
        // Answered or closed meanwhile.
        if (asked === undefined || this.silentSince !== asked) return;
        this.probes += 1;
        if (this.probes % PROBES_TO_RECONNECT === 0) this.events.reconnect();
        this.probeLater();
      },
    );
  }
}
