import type { Answer } from '../../core/call/index.js';
import type { ResolvedCall } from '../../core/policy/index.js';
import type { Request } from '../../core/request.js';
import type { StampedeCache } from '../../core/stampede-cache.js';
import type { RequestDirective } from '../interfaces/http-options.interface.js';
import { parseDirectives } from './response/index.js';

/** What a request asks of the cache, as far as its route allows. */
export interface Wishes {
  /** Past the cache. */
  readonly noStore: boolean;
  readonly call: Partial<ResolvedCall>;
  /** Undefined: it wants what is cached, and nothing is. */
  answer(core: StampedeCache, request: Request): Promise<Answer | undefined>;
}

type Headers = Readonly<Record<string, string | undefined>>;

/** Undefined: none that is allowed. */
export function wishesOf(headers: Headers, allowed: ReadonlySet<RequestDirective>): Wishes | undefined {
  if (allowed.size === 0) return undefined;
  const asked = parseDirectives(headers['cache-control'], headers['pragma']);
  const maxAge = allowed.has('max-age') ? asked.maxAgeMs : undefined;
  const maxStale = allowed.has('max-stale') ? asked.maxStaleMs : undefined;
  const fresh = (asked.noCache && allowed.has('no-cache')) || maxAge === 0;
  const onlyIfCached = asked.onlyIfCached && allowed.has('only-if-cached');
  const noStore = asked.noStore && allowed.has('no-store');
  if (!fresh && !onlyIfCached && !noStore && maxAge === undefined && maxStale === undefined) return undefined;
  return {
    noStore,
    call: { ...(fresh && { fresh }), ...(maxStale !== undefined && { maxStale }) },
    answer: async (core, request) => {
      if (onlyIfCached) return fresh ? undefined : youngEnough(await core.entries.read(request), maxAge);
      if (fresh || maxAge === undefined) return core.answer(request);
      const held = youngEnough(await core.entries.read(request), maxAge);
      return held ?? core.answer(anew(request));
    },
  };
}

/** The same question, for a load of its own. */
function anew(request: Request): Request {
  const { key, name, version, policy, call, args } = request;
  return {
    key,
    name,
    version,
    policy,
    args,
    call: { ...call, fresh: true },
    load: (context) => request.load(context),
  };
}

function youngEnough(answer: Answer | undefined, maxAge: number | undefined): Answer | undefined {
  return answer === undefined || (maxAge !== undefined && answer.age > maxAge) ? undefined : answer;
}
