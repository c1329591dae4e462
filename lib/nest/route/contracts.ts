import type { ExecutionContext } from '@nestjs/common';

/** What a handler's declared inputs are in one request, raw, before pipes. */
export interface InputReading {
  /** What the key is made of. */
  readonly parts: readonly unknown[];
  /** In the order of the handler's parameters; for the policy's functions. */
  readonly args: readonly unknown[];
  /** Whether an input identifies whoever the request's credentials stand for. */
  readonly isCovered: boolean;
}

/** The inputs of one handler, known once and for all. */
export interface InputReader {
  /**
   * Undefined: one of them can't be evaluated (a custom decorator threw); the handler will meet the same.
   * @param credentials the names, lower-case, of the credential headers that this request carries
   */
  read(
    context: ExecutionContext,
    credentials: readonly string[],
  ): InputReading | undefined | Promise<InputReading | undefined>;

  /**
   * The parts of a request whose handler is called with these arguments, if pipes change them no further than text to numbers
   * and the like. Undefined: arguments don't tell.
   */
  partsOf?(args: readonly unknown[]): readonly unknown[] | undefined;
}

/** A recorded header, its name in lower case. `add`: the value stands behind what the response has already, a text with its separator. */
export type RecordedHeader = readonly [name: string, value: string | readonly string[], how?: 'add'];

/** Status and headers of a response, as they are cached. */
export interface ResponseHead {
  readonly status: number;
  readonly headers: readonly RecordedHeader[];
}
