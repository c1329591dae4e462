import { NO_KEY, type EntryKey, type Key } from '../core/keys/index.js';
import type { LoadContext } from '../core/load/index.js';
import type { ResolvedCall } from '../core/policy/index.js';
import type { Loader, Request } from '../core/request.js';
import type { StampedeCache } from '../core/stampede-cache.js';
import type { CachedMethod } from './cached/cached-method.js';
import { runInLoadOf } from './current-load.js';
import type { ManagedCache } from './managed-cache.js';

/** A call by key. A class of its own, whose members are made for whoever asks: most calls are hits. */
export class KeyRequest implements Request {
  readonly name = '';

  constructor(
    private readonly core: StampedeCache,
    private readonly given: Key,
    readonly key: EntryKey,
    readonly policy: Request['policy'],
    readonly call: ResolvedCall,
    private readonly loader: Loader,
  ) {}

  get args(): readonly unknown[] {
    return partsOf(this.given);
  }

  load(context: LoadContext<never>): unknown {
    return runInLoadOf(this.core, () => this.loader(context));
  }
}

/** A call of a method. */
export class MethodRequest implements Request {
  readonly name: string;
  readonly version: string | undefined;
  readonly policy: Request['policy'];

  constructor(
    private readonly cache: ManagedCache,
    private readonly method: CachedMethod,
    private readonly host: object,
    readonly args: readonly unknown[],
    readonly key: EntryKey,
    readonly call: ResolvedCall,
  ) {
    this.name = method.name;
    this.version = method.version;
    this.policy = method.policy;
  }

  load(): unknown {
    const { cache, method, host, args } = this;
    return runInLoadOf(cache.core, () => method.load(host, args, (message) => cache.warn(message)));
  }
}

/** What goes past the cache has no key: it might not even be encodable. */
export function straight(call: ResolvedCall): { key: EntryKey; call: ResolvedCall } {
  return { key: NO_KEY, call: { ...call, bypass: true } };
}

/** What the policy's functions get. */
export function partsOf(key: Key): readonly unknown[] {
  return Array.isArray(key) ? (key as readonly unknown[]) : [key];
}
