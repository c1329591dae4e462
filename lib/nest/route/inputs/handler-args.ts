import type { CustomInput } from './custom-inputs.js';
import type { HandlerDeclaration } from './declaration.js';
import type { RequestView } from './request-view.js';
import { valueReader, type FindSigner, type ReadValue } from './values.js';

interface Argument {
  readonly index: number;
  readonly read: ReadValue;
}

/** The arguments of a handler as Nest hands them to its pipes. */
export class HandlerArgs {
  private readonly length: number;
  private readonly wire: readonly Argument[];

  constructor(
    { inputs }: HandlerDeclaration,
    private readonly customs: readonly CustomInput[],
    findSigner: FindSigner,
  ) {
    this.length = inputs.reduce((length, { index }) => Math.max(length, index + 1), 0);
    this.wire = inputs
      .filter(({ factory }) => factory === undefined)
      .map((input) => ({ index: input.index, read: valueReader(input, findSigner) }));
  }

  /** @param customs the values of the custom decorators, in their order */
  of(view: RequestView, customs: readonly unknown[]): readonly unknown[] {
    const args = Array.from<unknown>({ length: this.length });
    for (const { index, read } of this.wire) args[index] = read(view);
    this.customs.forEach(({ index }, i) => (args[index] = customs[i]));
    return args;
  }
}
