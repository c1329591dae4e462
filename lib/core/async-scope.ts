import { AsyncLocalStorage } from 'node:async_hooks';

/** Which value each scope has in an async context: scope and value by turns. Few, so a list beats a map. */
type Frame = readonly unknown[];

interface Shared {
  readonly storage: AsyncLocalStorage<Frame>;
  /** Scopes that were entered and not closed. */
  users: number;
}

const SHARED = Symbol.for('nestjs-stampede-cache.async-scopes');
const NOTHING: Frame = Object.freeze([]);

/**
 * One storage for every scope of the process, of other copies of this package too: each storage that was ever entered costs
 * every promise of the process.
 */
function sharedOf(target: { [SHARED]?: Shared }): Shared {
  return (target[SHARED] ??= { storage: new AsyncLocalStorage<Frame>(), users: 0 });
}

// Nobody else uses this symbol.
const shared = sharedOf(globalThis as { [SHARED]?: Shared });

/** A value for an async context, as `AsyncLocalStorage` gives it. Costs nothing until it is entered, and after it is closed. */
export class AsyncScope<T> {
  private state: 'idle' | 'used' | 'closed' = 'idle';
  private readonly key: unknown;

  /** @param name of a scope that copies of this package have in common; nobody closes it, and it keeps nothing alive */
  constructor(name?: symbol) {
    this.key = name ?? this;
  }

  /** The value of the innermost {@link run} around this call. */
  current(): T | undefined {
    const frame = shared.storage.getStore();
    if (frame === undefined) return undefined;
    for (let at = 0; at < frame.length; at += 2) if (frame[at] === this.key) return frame[at + 1] as T; // written by `run`
    return undefined;
  }

  /** Runs `fn`, and all that it begins, with the value. Once closed, without it. */
  run<R>(value: T, fn: () => R): R {
    if (this.state === 'closed') return fn();
    if (this.state === 'idle' && this.key === this) {
      this.state = 'used';
      shared.users += 1;
    }
    return shared.storage.run(this.over(shared.storage.getStore() ?? NOTHING, value), fn);
  }

  /** Gives the context back. */
  close(): void {
    const wasUsed = this.state === 'used';
    this.state = 'closed';
    if (!wasUsed) return;
    shared.users -= 1;
    if (shared.users === 0) shared.storage.disable();
  }

  private over(outer: Frame, value: T): Frame {
    const frame = outer.slice();
    const at = frame.indexOf(this.key);
    if (at === -1) return frame.concat([this.key, value]);
    frame[at + 1] = value;
    return frame;
  }
}
