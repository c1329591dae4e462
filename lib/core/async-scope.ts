import { AsyncLocalStorage } from 'node:async_hooks';

/** Which value each scope has in an async context: scope and value by turns. Few, so a list beats a map. */
type Frame = readonly unknown[];

interface Shared {
  readonly storage: AsyncLocalStorage<Frame>;
  /** How much there is that a value may still be asked for in. */
  holds: number;
}

const SHARED = Symbol.for('nestjs-stampede-cache.async-scopes');
const NOTHING: Frame = Object.freeze([]);

/**
 * One storage for every scope of the process, of other copies of this package too: a storage that is in use costs every promise
 * of the process (until Node 24), and several cost as much each.
 */
function sharedOf(target: { [SHARED]?: Shared }): Shared {
  return (target[SHARED] ??= { storage: new AsyncLocalStorage<Frame>(), holds: 0 });
}

// Nobody else uses this symbol.
const shared = sharedOf(globalThis as { [SHARED]?: Shared });

/** A value for an async context, as `AsyncLocalStorage` gives it. Costs nothing while nobody is inside. */
export class AsyncScope<T> {
  private state: 'idle' | 'held' | 'closed' = 'idle';
  private readonly key: unknown;

  /** @param name of a scope that copies of this package have in common; nobody closes it */
  constructor(name?: symbol) {
    this.key = name ?? this;
  }

  /** The value of the innermost run around this call. */
  current(): T | undefined {
    if (shared.holds === 0) return undefined;
    const frame = shared.storage.getStore();
    if (frame === undefined) return undefined;
    for (let at = 0; at < frame.length; at += 2) if (frame[at] === this.key) return frame[at + 1] as T; // written by `enter`
    return undefined;
  }

  /** Runs `fn`, and all that it begins, however long that takes, with the value. Once closed, without it. */
  run<R>(value: T, fn: () => R): R {
    if (this.state === 'closed') return fn();
    if (this.state === 'idle') {
      this.state = 'held';
      shared.holds += 1;
    }
    return this.enter(value, fn);
  }

  /** The same until what `fn` returns has settled: whatever goes on after it may be without the value. */
  during<R>(value: T, fn: () => R): R {
    if (this.state === 'closed') return fn();
    shared.holds += 1;
    let result: R;
    try {
      result = this.enter(value, fn);
    } catch (error) {
      letGo();
      throw error;
    }
    if (result instanceof Promise) result.then(letGo, letGo);
    else letGo();
    return result;
  }

  /** Gives the context back. */
  close(): void {
    const wasHeld = this.state === 'held';
    this.state = 'closed';
    if (wasHeld) letGo();
  }

  private enter<R>(value: T, fn: () => R): R {
    return shared.storage.run(this.over(shared.storage.getStore() ?? NOTHING, value), fn);
  }

  private over(outer: Frame, value: T): Frame {
    const frame = outer.slice();
    const at = frame.indexOf(this.key);
    if (at === -1) return frame.concat([this.key, value]);
    frame[at + 1] = value;
    return frame;
  }
}

function letGo(): void {
  shared.holds -= 1;
  if (shared.holds === 0) shared.storage.disable();
}
