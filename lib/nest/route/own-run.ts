import { of, throwError, type Observable } from 'rxjs';
import type { ShadowResponse } from './response/index.js';
import type { Rest } from './single-value.js';
import { releaseBody } from './streaming.js';

/** An answer that is for the request alone whose handler gave it. */
interface Alone {
  readonly value: unknown;
  /** The Observable goes on. */
  readonly rest: Rest | undefined;
  /** What the handler threw, in place of an answer. */
  readonly thrown?: { readonly error: unknown } | undefined;
}

/** What the handler answered to the request that ran it, as far as it is for this request alone. */
export class OwnRun {
  cookies: readonly string[] = [];
  shadow: ShadowResponse | undefined;
  private alone: Alone | undefined;
  private isOver = false;

  keep(alone: Alone): void {
    // A refresh in the background: its request has its answer already.
    if (this.isOver) release(alone);
    else this.alone = alone;
  }

  /** It is an error, which this request alone gets. */
  get hasThrown(): boolean {
    return this.alone?.thrown !== undefined;
  }

  /** The answer; undefined: another request's handler gave it. */
  take(): Observable<unknown> | undefined {
    const { alone } = this;
    this.alone = undefined;
    this.isOver = true;
    if (alone === undefined) return undefined;
    const { thrown } = alone;
    if (thrown) return throwError(() => thrown.error);
    return alone.rest?.values() ?? of(alone.value);
  }

  /** The request is answered with something else. */
  end(): void {
    this.isOver = true;
    if (this.alone !== undefined) release(this.alone);
    this.alone = undefined;
  }
}

function release({ value, rest }: Alone): void {
  rest?.drop();
  releaseBody(value);
}
