import { ConfigurationError } from '../errors.js';
import type { Cancel, Runtime } from '../ports.js';
import { NOT_MODIFIED, RunningLoadContext, type LoadWishes, type StaleValue } from './load-context.js';
import type { ChainLink, LoadChain } from './load-chain.js';
import type { LoadSlot, SharedLoad } from './load-slot.js';
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
  readonly slot: LoadSlot;
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
  const { runtime, chain, slot } = around;
  const { policy, key } = request;
  const controller = new AbortController();
  const context = new RunningLoadContext(key.id, controller.signal, policy.where, around.readStale);
  const load = slot.shared ?? new OwnLoad(request, slot);
  const link = load.join(context, around.parent);
  around.onBegin(link);
  const started = runtime.clock.now();
  let over = false;
  let letGo!: (kind: 'timeout' | 'aborted', reason: unknown) => void;
  const result = new Promise<LoadResult>((resolve) => {
    const end = (partial: (took: number) => LoadResult): void => {
      stop();
      over = true;
      load.leave();
      resolve(partial(runtime.clock.now() - started));
    };
    letGo = (kind, reason) => {
      if (over) return;
      end((took) => ({ kind, took }));
      around.onLetGo();
      controller.abort(reason);
    };
    const stop: Cancel = runtime.timers.after(policy.loadTimeout, () =>
      letGo('timeout', new DOMException('loadTimeout', 'TimeoutError')),
    );
    around
      // A loader may throw synchronously, return a plain value or a thenable: one await covers all. Inside: a thenable runs
      // its query only then, and must find its load around it.
      .outside(() => chain.run(link, async () => await load.load()))
      .then(
        (value) => {
          if (!over) end((took) => outcomeOf(value, context, took));
        },
        (error: unknown) => {
          if (!over) end((took) => ({ kind: 'error', error, wishes: context.wishes, took }));
        },
      );
  });
  return { result, abort: (reason) => letGo('aborted', reason) };
}

/** A load that runs by itself. */
class OwnLoad implements SharedLoad {
  private link: ChainLink | undefined;

  constructor(
    private readonly request: Request,
    private readonly slot: LoadSlot,
  ) {}

  join(context: RunningLoadContext, parent: ChainLink | undefined): ChainLink {
    const { id } = this.request.key;
    const loads = (keyId: string): boolean => keyId === id;
    const slot = this.slot.whole;
    return (this.link = { loads, context, slot, parent, waitsFor: new Map(), finished: false });
  }

  load(): unknown {
    // The loader's context is typed for its own value; what it is given is the same object.
    return this.request.load(this.link?.context as never);
  }

  leave(): void {
    if (this.link) this.link.finished = true;
  }
}

function outcomeOf(value: unknown, context: RunningLoadContext, took: number): LoadResult {
  const { wishes } = context;
  if (value !== NOT_MODIFIED) return { kind: 'value', value, wishes, took };
  if (context.keeps) return { kind: 'notModified', wishes, took };
  const error = new ConfigurationError(`The load of ${context.key} returned another load's notModified().`);
  return { kind: 'error', error, wishes, took };
}
