import type { ServerResponse } from 'node:http';
import { asHeaderValue, type HeaderValue, Reply } from './reply.js';

/** Express extends Node's response; its own `set` would rewrite content types, so Node's methods are used. */
export class ExpressReply extends Reply {
  readonly platform = 'express';

  constructor(response: ServerResponse) {
    super(response, response);
  }

  get(name: string): HeaderValue | undefined {
    return asHeaderValue(this.raw.getHeader(name));
  }

  write(name: string, value: HeaderValue): void {
    this.raw.setHeader(name, value);
  }

  erase(name: string): void {
    this.raw.removeHeader(name);
  }

  protected names(): string[] {
    return this.raw.getHeaderNames();
  }
}
