import type { ExecutionContext, Type } from '@nestjs/common';
import type { Recorder } from './recorder.js';

/** The context of a call whose arguments are stand-ins that record what is read of them. */
export class RecordedContext implements ExecutionContext {
  private readonly args: readonly unknown[];

  constructor(
    private readonly context: ExecutionContext,
    recorder: Recorder,
  ) {
    const args = context.getArgs<unknown[]>();
    const watched = placeOfContext(context.getType<string>(), args.length);
    this.args = args.map((arg, index) => (index === watched ? recorder.watch(arg) : arg));
  }

  getClass<T>(): Type<T> {
    return this.context.getClass<T>();
  }

  // The name is Nest's own type for a handler.
  getHandler(): ReturnType<ExecutionContext['getHandler']> {
    return this.context.getHandler();
  }

  getType<T extends string>(): T {
    return this.context.getType<T>();
  }

  getArgs<T extends unknown[]>(): T {
    return [...this.args] as T; // the caller names the type, as in the original
  }

  getArgByIndex<T>(index: number): T {
    return this.args[index] as T; // as above
  }

  switchToHttp(): ReturnType<ExecutionContext['switchToHttp']> {
    return {
      getRequest: <T>() => this.getArgByIndex<T>(0),
      getResponse: <T>() => this.getArgByIndex<T>(1),
      getNext: <T>() => this.getArgByIndex<T>(2),
    };
  }

  switchToRpc(): ReturnType<ExecutionContext['switchToRpc']> {
    return {
      getData: <T>() => this.getArgByIndex<T>(0),
      getContext: <T>() => this.getArgByIndex<T>(1),
    };
  }

  switchToWs(): ReturnType<ExecutionContext['switchToWs']> {
    return {
      getClient: <T>() => this.getArgByIndex<T>(0),
      getData: <T>() => this.getArgByIndex<T>(1),
      getPattern: () => this.getArgByIndex<string>(this.args.length - 1),
    };
  }
}

/** Where the argument stands that knows of credentials. */
function placeOfContext(type: string, count: number): number {
  if (type === 'graphql') return count === 3 ? 1 : 2;
  return type === 'rpc' ? 1 : 0;
}
