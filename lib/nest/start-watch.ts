import type { ModulesContainer } from '@nestjs/core';

const HOOKS = ['onModuleInit', 'onApplicationBootstrap'] as const;
/** How long a connection may outlive a bootstrap that failed before any hook ran, ms. */
const LOOK_EVERY = 100;

type Hook = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Notices that the bootstrap of the application failed, wherever it did. Nest tells nobody, and may leave no application
 * that could be closed: what the caches have opened by then would stay open for good.
 */
export class StartWatch {
  private readonly wrapped = new Set<() => void>();
  private readonly seen = new WeakSet<object>();
  private looking: NodeJS.Timeout | undefined;
  private isOver = false;

  constructor(
    private readonly modules: ModulesContainer,
    private readonly onFailure: () => Promise<void>,
  ) {}

  /** A cache connects, perhaps while providers are still being made. */
  opening(): void {
    if (this.isOver || this.looking !== undefined) return;
    // New ones begin all the time; what is looked at is there already when their failure ends the bootstrap.
    this.looking = setInterval(() => this.look(), LOOK_EVERY).unref();
    this.look();
  }

  /** All providers were made. From here on a failure is that of a hook: each is watched until it was called. */
  made(): void {
    this.stopLooking();
    for (const { instance } of this.wrappers()) {
      if (typeof instance !== 'object' || instance === null) continue;
      for (const name of HOOKS) this.watch(instance, name);
    }
  }

  /** Leaves everything as it was. */
  end(): void {
    this.stopLooking();
    for (const unwrap of this.wrapped) unwrap();
    this.wrapped.clear();
  }

  private stopLooking(): void {
    this.isOver = true;
    clearInterval(this.looking);
  }

  /** The making of each provider has a signal, which settles with what it failed with. */
  private look(): void {
    for (const { settlementSignal } of this.wrappers()) {
      if (settlementSignal === undefined || this.seen.has(settlementSignal)) continue;
      this.seen.add(settlementSignal);
      void settlementSignal.asPromise().then((error) => {
        if (error !== undefined && !this.isOver) void this.fail();
      });
    }
  }

  private wrappers() {
    return [...this.modules.values()].flatMap(({ providers, controllers, injectables }) =>
      [providers, controllers, injectables].flatMap((collection) => [...collection.values()]),
    );
  }

  private async fail(): Promise<void> {
    this.end();
    await this.onFailure();
  }

  private watch(instance: object, name: (typeof HOOKS)[number]): void {
    try {
      const original: unknown = Reflect.get(instance, name);
      if (typeof original !== 'function') return;
      const own = Reflect.getOwnPropertyDescriptor(instance, name);
      const unwrap = (): void => {
        this.wrapped.delete(unwrap);
        Reflect.deleteProperty(instance, name);
        if (own) Reflect.defineProperty(instance, name, own);
      };
      const hook = this.around(original as Hook, unwrap); // just checked
      // A frozen instance is left alone.
      if (Reflect.defineProperty(instance, name, { value: hook, configurable: true, writable: true }))
        this.wrapped.add(unwrap);
    } catch {
      // A value provider can be anything, also a Proxy that throws at each touch.
    }
  }

  private around(original: Hook, unwrap: () => void): Hook {
    // `this.fail` is the watch's; the hook's own `this` is whatever Nest calls it on.
    const fail = (): Promise<void> => this.fail();
    return async function (this: unknown, ...args: unknown[]) {
      unwrap();
      try {
        return await original.apply(this, args);
      } catch (error) {
        await fail();
        throw error;
      }
    };
  }
}
