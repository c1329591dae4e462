import { ConfigurationError } from '../errors.js';
import type { Cancel, Runtime } from '../ports.js';
import { NOT_MODIFIED, RunningLoadContext, type LoadWishes, type StaleValue } from './load-context.js';
import type { ChainLink, LoadChain } from './load-chain.js';
import type { Slot } from '../guard/index.js';
import type { Request } from '../request.js';

/** How one run of a loader ended. After `timeout` and `aborted` its own result is dropped. */
export type LoadResult =
  | { readonly kind: 'value'; readonly value: unknown; readonly wishes: LoadWishes; readonly took: number }
  | { readonly kind: 'notModified'; readonly wishes: LoadWishes; readonly took: number }
  | { readonly kind: 'error'; readonly error: unknown; readonly wishes: LoadWishes; readonly took: number }
  | { readonly kind: 'timeout'; readonly took: number }
  | { readonly kind: 'aborted'; readonly took: number };

export interface RunningLoad {
  readonly result: Promise<LoadResult>;
  /** Ends the load as far as anybody waits for it. Its loader may ignore its signal. */
  readonly abort: (reason: unknown) => void;
}

export interface LoadSurroundings {
  readonly runtime: Runtime;
  readonly chain: LoadChain;
  /** Leaves what belongs to the caller that happens to lead. */
  readonly outside: <R>(run: () => R) => R;
  readonly slot: Slot | undefined;
  /** The load around it; undefined starts a new chain. */
  readonly parent: ChainLink | undefined;
  readonly readStale: () => StaleValue | undefined;
  /** Called before the loader is: calls made inside it must find its link. */
  readonly onBegin: (link: ChainLink) => void;
  /** Called before the signal aborts: nobody may join a load that is being abandoned. */
  readonly onLetGo: () => void;
}

/** Calls the loader in the async context of this call, and lets go of it at `loadTimeout` or when aborted. */
export function runLoad(request: Request, around: LoadSurroundings): RunningLoad {
  const { runtime, chain } = around;
  const { policy, key } = request;
  const controller = new AbortController();
  const context = new RunningLoadContext(key.id, controller.signal, policy.where, around.readStale);
  const link: ChainLink = {
    keyId: key.id,
    context,
    slot: around.slot,
    parent: around.parent,
    waitsFor: new Map(),
    finished: false,
  };
  around.onBegin(link);
  const started = runtime.clock.now();
  let letGo!: (kind: 'timeout' | 'aborted', reason: unknown) => void;
  const result = new Promise<LoadResult>((resolve) => {
    const end = (partial: (took: number) => LoadResult): void => {
      stop();
      link.finished = true;
      resolve(partial(runtime.clock.now() - started));
    };
    letGo = (kind, reason) => {
      if (link.finished) return;
      end((took) => ({ kind, took }));
      around.onLetGo();
      controller.abort(reason);
    };
    const stop: Cancel = runtime.timers.after(policy.loadTimeout, () =>
      letGo('timeout', new DOMException('loadTimeout', 'TimeoutError')),
    );
    around
      .outside(() => callLoader(request, chain, link, context))
      .then(
        (value) => {
          if (!link.finished) end((took) => outcomeOf(value, context, took));
        },
        (error: unknown) => {
          if (!link.finished) end((took) => ({ kind: 'error', error, wishes: context.wishes, took }));
        },
      );
  });
  return { result, abort: (reason) => letGo('aborted', reason) };
}

/** A loader may throw synchronously, return a plain value or a thenable: one await covers all. */
async function callLoader(
  request: Request,
  chain: LoadChain,
  link: ChainLink,
  context: RunningLoadContext,
): Promise<unknown> {
  // The loader's context is typed for its own value; what it is given is the same object.
  // Awaited inside: a thenable runs its query only then, and must find its load around it.
  return chain.run(link, async () => await request.load(context as never));
}

function outcomeOf(value: unknown, context: RunningLoadContext, took: number): LoadResult {
  const { wishes } = context;
  if (value !== NOT_MODIFIED) return { kind: 'value', value, wishes, took };
  if (context.keeps) return { kind: 'notModified', wishes, took };
  const error = new ConfigurationError(`The load of ${context.key} returned another load's notModified().`);
  return { kind: 'error', error, wishes, took };
}
