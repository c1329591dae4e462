import { UncacheableArgumentError } from '../../core/errors.js';
import type { EntryKey } from '../../core/keys/index.js';
import type { LoadContext } from '../../core/load/index.js';
import type { ResolvedCall } from '../../core/policy/index.js';
import type { Loader, Request } from '../../core/request.js';
import { runInLoadOf } from '../current-load.js';
import type { InputReading } from './contracts.js';
import { hasNaN } from './inputs/index.js';
import type { RoutePlan } from './plan.js';
import { RouteResponse } from './route-response.js';

/** @throws UncacheableArgumentError for parts that no key can be made of */
export function keyOfRequest(
  { method, policy, cache: { core } }: RoutePlan,
  how: string,
  parts: readonly unknown[],
  call: ResolvedCall,
): EntryKey {
  const vary = core.requests.vary(call, policy, method.where);
  return core.requests.keyOfRequest(method, vary, how, parts, method.where);
}

/** Undefined: an input is nothing that a key can be made of, which a client may have sent on purpose. */
export function keyOrUndefined(
  plan: RoutePlan,
  how: string,
  parts: readonly unknown[],
  call: ResolvedCall,
): EntryKey | undefined {
  try {
    if (plan.http.key !== undefined && hasNaN(parts)) throw new UncacheableArgumentError(naming(plan));
    return keyOfRequest(plan, how, parts, call);
  } catch (error) {
    if (!(error instanceof UncacheableArgumentError)) throw error;
    plan.tellOfKey(error);
    return undefined;
  }
}

function naming({ method: { where } }: RoutePlan): string {
  return `${where}: http.key() returned NaN: what was to be a number is none, and one entry would stand for all such requests. Return the text as it was sent, or what the handler takes it for.`;
}

/** What a request asks the engine. */
export function requestOf(
  plan: RoutePlan,
  key: EntryKey,
  reading: InputReading,
  call: ResolvedCall,
  load: Loader,
): Request {
  return new RouteRequest(plan, key, reading, call, load);
}

class RouteRequest implements Request {
  readonly name: string;
  readonly version: string | undefined;
  readonly policy: Request['policy'];

  constructor(
    private readonly plan: RoutePlan,
    readonly key: EntryKey,
    private readonly reading: InputReading,
    readonly call: ResolvedCall,
    private readonly run: Loader,
  ) {
    this.name = plan.method.name;
    this.version = plan.method.version;
    this.policy = plan.policy;
  }

  /** Most policies have no function that asks for them. */
  get args(): readonly unknown[] {
    return this.reading.args;
  }

  load(context: LoadContext<never>): unknown {
    const { core } = this.plan.cache;
    return runInLoadOf({ currentLoad: () => bodyContextOf(core.currentLoad()) }, () => this.run(context));
  }
}

/** The handler's own view of its load: what is stale is what it answered with, not a response. */
function bodyContextOf(context: LoadContext | undefined): LoadContext | undefined {
  let stale: { readonly body: unknown } | undefined;
  return (
    context && {
      signal: context.signal,
      key: context.key,
      get stale() {
        stale ??= { body: context.stale instanceof RouteResponse ? context.stale.body : undefined };
        return stale.body;
      },
      ttl: (duration) => context.ttl(duration),
      skip: () => context.skip(),
      tags: (...tags) => context.tags(...tags),
      asOf: (time) => context.asOf(time),
      sourceVersion: (version) => context.sourceVersion(version),
      notModified: () => context.notModified(),
    }
  );
}
