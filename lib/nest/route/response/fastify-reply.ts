import type { ServerResponse } from 'node:http';
import { asHeaderValue, type HeaderValue, Reply } from './reply.js';

/** What is used of Fastify's reply. */
export interface FastifyLike {
  readonly raw: ServerResponse;
  readonly sent: boolean;
  header(name: string, value: HeaderValue): unknown;
  removeHeader(name: string): unknown;
  getHeader(name: string): HeaderValue | number | undefined;
  getHeaders(): object;
  serialize(body: unknown): string;
}

/** Fastify keeps headers of its own until it sends; they win over those of Node's response. */
export class FastifyReply extends Reply {
  readonly platform = 'fastify';

  constructor(private readonly own: FastifyLike) {
    super(own, own.raw);
  }

  /** `sent`: hijacked, or ended. */
  override get isOver(): boolean {
    return this.own.sent || super.isOver;
  }

  get(name: string): HeaderValue | undefined {
    return asHeaderValue(this.own.getHeader(name));
  }

  /** `set-cookie` adds to what is there, as Fastify has it. */
  write(name: string, value: HeaderValue): void {
    this.own.header(name, value);
  }

  erase(name: string): void {
    this.own.removeHeader(name);
  }

  protected names(): string[] {
    return Object.keys(this.own.getHeaders());
  }
}
