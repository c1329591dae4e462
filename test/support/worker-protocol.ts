/** What the parent asks of a worker process. */
export type ToWorker =
  | { readonly type: 'call'; readonly id: number; readonly name: string; readonly args: readonly unknown[] }
  /** Get ready for call `id`, and begin it when its `go` says so. */
  | {
      readonly type: 'prepare';
      readonly id: number;
      readonly name: string;
      readonly args: readonly unknown[];
    }
  | { readonly type: 'go'; readonly id: number; readonly at: bigint }
  | { readonly type: 'stop' };

export type FromWorker =
  | { readonly type: 'started' }
  | { readonly type: 'prepared'; readonly id: number }
  | { readonly type: 'result'; readonly id: number; readonly value: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: RemoteError };

export interface RemoteError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: unknown;
}

export function describeError(error: unknown): RemoteError {
  if (!(error instanceof Error)) return { name: 'NonError', message: String(error) };
  const { name, message, stack } = error;
  return { name, message, stack, code: 'code' in error ? error.code : undefined };
}
