import 'reflect-metadata';
import type { ExecutionContext } from '@nestjs/common';
import { classOf } from '../../cached/cached-methods.js';

/** One parameter of a handler, as its decorator declared it. */
export interface Parameter {
  readonly index: number;
  /** The number that the package of the transport gives this kind of parameter; undefined for a custom decorator. */
  readonly kind: number | undefined;
  /** What the decorator was given: mostly the name of a property. */
  readonly data: unknown;
  /** Of a custom decorator. */
  readonly factory?: ParameterFactory | undefined;
}

export type ParameterFactory = (data: unknown, context: ExecutionContext) => unknown;

/** The one key under which all packages of Nest keep the parameters of a handler, and what marks those of `createParamDecorator`. */
const PARAMETERS = '__routeArguments__';
const CUSTOM = '__customRouteArgs__';

/** In the order of the parameters; undefined where no parameter has a decorator. */
export function parametersOf(prototype: object, method: string | symbol): readonly Parameter[] | undefined {
  const declared: unknown = Reflect.getMetadata(PARAMETERS, classOf(prototype), method);
  if (typeof declared !== 'object' || declared === null) return undefined;
  const parameters = Object.entries(declared).map(([id, parameter]) => readParameter(id, parameter));
  if (parameters.length === 0) return undefined;
  return parameters.sort((a, b) => a.index - b.index);
}

function readParameter(id: string, declared: unknown): Parameter {
  // Nest writes `{ index, data, pipes }`, and `factory` for custom decorators.
  const { index, data, factory } = declared as { index: number; data?: unknown; factory?: unknown };
  if (!id.includes(CUSTOM)) return { index, kind: Number(id.split(':')[0]), data };
  const isCallable = typeof factory === 'function';
  return { index, kind: undefined, data, factory: isCallable ? (factory as ParameterFactory) : undefined };
}
