import { createParamDecorator, type ExecutionContext, type Type } from '@nestjs/common';
import { encodeParts } from '../../../../lib/core/keys/index.js';
import type { InputReading } from '../../../../lib/nest/route/contracts.js';
import {
  resolveHttpInputs,
  type HttpHandler,
  type HttpInputsPlan,
} from '../../../../lib/nest/route/inputs/index.js';

/** A request as a test spells it; what is left out is empty. */
export interface TestRequest {
  readonly headers?: Record<string, unknown>;
  readonly [property: string]: unknown;
}

/** Nest's context of a route, which it does not export. */
class RouteContext {
  constructor(
    private readonly args: unknown[],
    private readonly host: unknown,
    private readonly handler: unknown,
  ) {}
  getType = () => 'http';
  getClass = () => this.host;
  getHandler = () => this.handler;
  getArgs() {
    return this.args;
  }
  getArgByIndex(index: number) {
    return this.args[index];
  }
  switchToHttp() {
    return Object.assign(this, {
      getRequest: () => this.getArgByIndex(0),
      getResponse: () => this.getArgByIndex(1),
      getNext: () => this.getArgByIndex(2),
    });
  }
}

export const RESPONSE = { isResponse: true };
export const NEXT = (): void => undefined;

export function contextOf(request: TestRequest, host?: unknown, handler?: unknown): ExecutionContext {
  const complete = request.headers === undefined ? Object.assign(request, { headers: {} }) : request;
  // It has of a context what a route has.
  return new RouteContext([complete, RESPONSE, NEXT], host, handler) as unknown as ExecutionContext;
}

/** A resolved handler, with what it warned of. */
export interface Subject {
  readonly plan: HttpInputsPlan;
  readonly warnings: readonly string[];
  readonly reading: (request: TestRequest, credentials?: readonly string[]) => InputReading;
  /** The text of the key. */
  readonly key: (request: TestRequest) => string;
}

export function resolve(
  controller: Type,
  http: HttpHandler['http'] = {},
  more: Partial<HttpHandler> = {},
): Subject {
  const warnings: string[] = [];
  const plan = resolveHttpInputs({
    prototype: controller.prototype as object,
    method: 'find',
    http,
    isRequestScoped: false,
    where: `${controller.name}.find`,
    warn: (message) => warnings.push(message),
    ...more,
  });
  const reading = (request: TestRequest, credentials: readonly string[] = []): InputReading => {
    const result = plan.reader.read(contextOf(request, controller), credentials);
    if (result === undefined || result instanceof Promise) throw new Error('expected a reading at once');
    return result;
  };
  return { plan, warnings, reading, key: (request) => encodeParts(reading(request).parts) };
}

/** A request as tests look at it: anything may be asked for. */
export type AnyRequest = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any

export const Custom = createParamDecorator((data: (context: ExecutionContext) => unknown, context) =>
  data(context),
);

/** A controller whose `find` takes the decorated parameters. */
export function taking(...decorators: ParameterDecorator[]) {
  class Products {
    find(): void {}
  }
  decorators.forEach((decorate, index) => decorate(Products.prototype, 'find', index));
  return Products;
}

/** A handler with custom decorators that ask this of the request. */
export function asking(...asks: ((request: AnyRequest) => unknown)[]): Subject {
  const ofRequest = (ask: (request: AnyRequest) => unknown) => (context: ExecutionContext) =>
    ask(context.switchToHttp().getRequest<AnyRequest>());
  return resolve(taking(...asks.map((ask) => Custom(ofRequest(ask)))));
}

export const SENT = { authorization: 'Bearer a', cookie: 'sid=1; theme=dark' };
export const BOTH = ['authorization', 'cookie'];

/** Which of the two credentials are covered. */
export function covered(subject: Subject, request: () => TestRequest): string[] {
  return BOTH.filter((name) => subject.reading(request(), [name]).isCovered);
}
