import type { ExecutionContext } from '@nestjs/common';
import { ConfigurationError } from '../../../core/errors.js';
import { isThenable } from '../../is-thenable.js';
import type { HttpOptions } from '../../interfaces/http-options.interface.js';
import type { InputReader, InputReading } from '../contracts.js';
import { disown, type CustomInput } from './custom-inputs.js';
import type { HandlerArgs } from './handler-args.js';
import { KeyCover } from './key-cover.js';
import { Reading } from './readings.js';
import { RequestView } from './request-view.js';

/** Asks `http.key`, which stands for everything declared, and says who may share an entry. */
export class KeyReader implements InputReader {
  private readonly cover: KeyCover;

  constructor(
    private readonly key: NonNullable<HttpOptions['key']>,
    private readonly customs: readonly CustomInput[],
    private readonly args: HandlerArgs,
    private readonly where: string,
    warn: (message: string) => void,
  ) {
    this.cover = new KeyCover(where, warn);
  }

  /** @throws what the key function throws; ConfigurationError where it returns a Promise */
  read(context: ExecutionContext, credentials: readonly string[]): InputReading {
    const key: unknown = this.key(context);
    if (isThenable(key)) {
      disown(key);
      throw new ConfigurationError(
        `${this.where}: http.key() returned a Promise: a key is made at once, of what the request has. Find the rest in a guard or a middleware, and leave it on the request.`,
      );
    }
    // One part, which keeps the brackets of a list: 'a' and ['a'] are two keys.
    return new Reading([key], this.cover.isCovered(key, credentials), () => this.argsOf(context));
  }

  /** Custom decorators are evaluated only for whoever asks: what one can't say is undefined, and a Promise stays one. */
  private argsOf(context: ExecutionContext): readonly unknown[] {
    const values = this.customs.map((input) => {
      try {
        const value = input.evaluate(context);
        disown(value);
        return value;
      } catch {
        return undefined;
      }
    });
    return this.args.of(new RequestView(context), values);
  }
}
