import { drawLife, encodePayload, type EncodedPayload } from '../entry/index.js';
import { UncacheableValueError } from '../errors.js';
import type { Engine } from '../flight/index.js';
import { NO_WISHES } from '../load/index.js';
import { asUserSays, lateTags, packedDraft, uncacheable, type Draft } from '../publish/index.js';
import type { Request } from '../request.js';
import { earlyTags, TAG_MARGIN, tokensOf } from '../coherence/index.js';

/**
 * The value as it would be stored; undefined: the policy stores none such.
 * @throws UncacheableValueError; ConfigurationError for its tags
 */
export function draftOf(engine: Engine, request: Request, value: unknown): Draft | undefined {
  const { policy } = request;
  const { planning } = engine;
  let payload: EncodedPayload;
  try {
    payload = encodePayload(value, policy);
    if (payload.bytes.length > planning.maxValueBytes) {
      const size = `${payload.bytes.length} bytes are over maxValueBytes (${planning.maxValueBytes})`;
      throw new UncacheableValueError(`${policy.where}: ${size}. Store less, or raise the limit.`, '');
    }
  } catch (error) {
    throw uncacheable(error, policy.where);
  }
  const { kind, ttl } = asUserSays(value, false, undefined, request, planning);
  const tags = lateTags(value, NO_WISHES, request, earlyTags(request), planning.advice);
  const life = drawLife(kind, ttl, policy, planning.random.next());
  return life && tags && { kind, payload, life, kept: undefined, tags, asOf: undefined, sourceVersion: 0 };
}

/** Puts the value in its place, whatever is there. */
export async function putDraft(
  engine: Engine,
  request: Request,
  draft: Draft,
  early: readonly string[],
): Promise<void> {
  const { gate, epochs, tags, variants, publisher, packing, runtime } = engine;
  const { hard } = draft.life;
  const ids = [...early, ...draft.tags];
  const [states, , , packed = draft] = await Promise.all([
    ids.length === 0 ? [] : tags.hold(ids, hard + TAG_MARGIN),
    epochs.ask(),
    variants.cover(request.name, request.key.variant, hard),
    packedDraft(draft, request.policy, packing, gate.writeBudget),
  ]);
  const now = gate.store.now();
  const id = runtime.random.token();
  const bytes = publisher.bytes(request.key, packed, {
    id,
    loaded: { start: now, end: now, took: 0 },
    epoch: epochs.least(request.name),
    tags: tokensOf(ids, states),
  });
  const put = { token: id, bytes, hardMs: hard, notAfter: now + gate.writeBudget };
  const reply = await gate.change('set', request.key, () => gate.store.put(request.key, put));
  if (reply === 'late') throw new Error('the store took it up too late and left it');
}
