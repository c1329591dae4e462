import { hostname } from 'node:os';

import { Advice } from '../core/advice.js';
import { StampedeCache } from '../core/stampede-cache.js';
import { CacheUnavailableError, ConfigurationError } from '../core/errors.js';
import type { ResolvedCall } from '../core/policy/index.js';
import type { BuiltStore } from './cache-setup.js';
import { httpErrors } from './errors/http-errors.js';
import type { StampedeCacheModuleOptions } from './interfaces/stampede-cache-module-options.interface.js';
import { asFlag } from './options/as-flag.js';
import { cacheOptionsOf, checkPolicy } from './options/check-module-options.js';
import { isSwitchedOff } from './options/switched-off.js';
import { INSPECT } from './inspect.js';
import { describeCache } from './stampede-cache.constants.js';

/** When a client whose request failed for want of Redis may try again, ms. */
const RETRY_AFTER = 1_000;

/** A cache with its life in an application: opened once, by the bootstrap or by the first call before it. */
export class ManagedCache {
  readonly core: StampedeCache;
  readonly advice: Advice;
  private opening: Promise<void> | undefined;
  private isOpen = false;
  private isClosed = false;
  private lastReason = 'no answer yet';

  constructor(
    readonly name: string | undefined,
    readonly options: StampedeCacheModuleOptions,
    private readonly built: BuiltStore,
    private readonly onOpening: () => void,
  ) {
    const { store, runtime, onState } = built;
    this.advice = new Advice(runtime);
    // The core never asks for `bypass`: it is asked here, once a call, before anything else is.
    const { bypass: _, ...core } = cacheOptionsOf(options);
    const enabled = options.enabled !== false && !isSwitchedOff();
    this.core = new StampedeCache(
      { ...core, enabled },
      { store, runtime, frameworkErrors: httpErrors, holder: holder() },
    );
    checkPolicy(options.policy, describeCache(name), (message) => this.warn(message));
    onState((state, reason) => {
      this.lastReason = reason;
      this.core.report(state, reason);
    });
  }

  get closed(): boolean {
    return this.isClosed;
  }

  /** Never the options: the connection's may hold a password. */
  toJSON(): { readonly cache: string; readonly closed: boolean } {
    return { cache: describeCache(this.name), closed: this.isClosed };
  }

  [INSPECT](): string {
    return `StampedeCache <${describeCache(this.name)}${this.isClosed ? ', closed' : ''}>`;
  }

  warn(message: string): void {
    this.built.runtime.log.warn(message);
  }

  /** Monotonic, ms. */
  now(): number {
    return this.built.runtime.clock.now();
  }

  /** Undefined once the store is open, so that a hit does not wait for anything. */
  ready(): Promise<void> | undefined {
    if (this.isOpen || this.isClosed) return undefined;
    return this.open();
  }

  /** Whether this call goes past the cache. Asks the option `bypass` in the caller's async context. */
  goesStraight(call: ResolvedCall): boolean {
    if (!this.core.enabled || call.bypass) return true;
    const { bypass } = this.options;
    return bypass !== undefined && asFlag(bypass(), 'bypass()');
  }

  /**
   * Opens the cache for the bootstrap.
   * @throws ConfigurationError for a server that is too old
   * @throws CacheUnavailableError without Redis where it is required
   */
  async start(): Promise<void> {
    if (!this.core.enabled) return;
    await this.open();
    const { refusal, isUp } = this.built;
    const why = refusal();
    const who = describeCache(this.name);
    if (why !== undefined) throw new ConfigurationError(`${who}: redis: ${why}.`);
    if (this.options.requireRedis === true && !isUp()) {
      throw new CacheUnavailableError(
        `${who}: Redis can't be reached (${this.lastReason}) and requireRedis is true.`,
        RETRY_AFTER,
      );
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    await this.core.close();
  }

  private open(): Promise<void> {
    // A cache that is switched off never connects.
    if (this.opening === undefined && this.core.enabled) this.onOpening();
    this.opening ??= this.core.enabled ? this.core.open() : Promise.resolve();
    return this.opening.then(() => {
      this.isOpen = true;
    });
  }
}

/** At most 64 visible ASCII characters without a comma. */
function holder(): string {
  return `${hostname()
    .replace(/[^!-+\--~]/g, '-')
    .slice(0, 48)}/${process.pid}`;
}
