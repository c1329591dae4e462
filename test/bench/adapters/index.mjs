/**
 * What is measured. `traits` say which scenarios a configuration takes part in:
 *   hits   every hit is answered by Redis
 *   near   hits are answered by this process
 *   loads  loads what is missing
 *   window can serve a value past its ttl, or refreshes ahead of it
 *   ill    goes on, or not, while Redis is ill
 *   many   is asked for many ids in one call; `single`: has no such call, is asked for each id at once
 */
const OURS = 'nestjs-stampede-cache';

const adapter = (file, traits, options = {}, more = {}) => ({
  file,
  traits: traits.split(' '),
  options,
  ...more,
});

export const ADAPTERS = {
  'raw GET': adapter('raw', 'hits'),
  'raw GET, auto-pipelined': adapter('raw', 'hits', { autoPipeline: true }),
  'raw GET, async storage': adapter('raw', 'hits', { asyncStorage: true }),
  'raw MGET': adapter('raw', 'many', { many: 'mget' }),
  'raw pipeline': adapter('raw', 'many', { many: 'pipeline' }),
  'Map.get': adapter('map', 'near'),
  'Map.get, async storage': adapter('map', 'near', { asyncStorage: true }),
  'Map.get and JSON.parse': adapter('map', 'near', { copies: true }),
  'cache-aside': adapter('cache-aside', 'hits loads ill single'),
  [OURS]: adapter('ours', 'hits loads window ill many'),
  [`${OURS}, @Cached`]: adapter('ours', 'hits', { decorated: true }),
  [`${OURS}, shared`]: adapter('ours', 'hits', { shared: true }),
  [`${OURS}, l1`]: adapter('ours', 'near window ill', { l1: true }),
  [`${OURS}, l1, @Cached`]: adapter('ours', 'near', { l1: true, decorated: true }),
  [`${OURS}, l1, shared`]: adapter('ours', 'near', { l1: true, shared: true }),
  [`${OURS}, l1, shared, @Cached`]: adapter('ours', 'near', { l1: true, shared: true, decorated: true }),
  bentocache: adapter('bentocache', 'hits loads window ill single', {}, { impatient: true }),
  'bentocache, two tiers': adapter('bentocache', 'near window ill', { tiers: true }, { impatient: true }),
  cacheable: adapter('cacheable', 'hits loads ill many', {}, { impatient: true }),
  'cacheable, two tiers': adapter('cacheable', 'near ill', { tiers: true }, { impatient: true }),
  'cache-manager': adapter('cache-manager', 'hits loads window ill many', {}, { impatient: true }),
  'cache-manager, two tiers': adapter(
    'cache-manager',
    'near window ill',
    { tiers: true },
    { impatient: true },
  ),
  'async-cache-dedupe': adapter(
    'async-cache-dedupe',
    'hits loads window ill single',
    {},
    { impatient: true },
  ),
  'async-cache-dedupe, memory': adapter('async-cache-dedupe', 'near', { memory: true }),
  'layered-loader': adapter('layered-loader', 'hits loads window ill many', {}, { impatient: true }),
  'layered-loader, two tiers': adapter(
    'layered-loader',
    'near window ill',
    { tiers: true },
    { impatient: true },
  ),
  cachified: adapter('cachified', 'hits loads window ill single', {}, { impatient: true }),
  'cachified, lru-cache': adapter('cachified', 'near', { memory: true }),
};

export { OURS };

/** Our own configurations and the limits are never a peer. */
export const isPeer = (name) => !name.startsWith(OURS) && !/^(raw|Map)/.test(name);
export const isOurs = (name) => name.startsWith(OURS);

/** The names that have one of `traits`, in the order of the table. */
export function withTraits(...traits) {
  return Object.keys(ADAPTERS).filter((name) =>
    ADAPTERS[name].traits.some((trait) => traits.includes(trait)),
  );
}

export const hasTrait = (name, trait) => ADAPTERS[name].traits.includes(trait);

/** The packages behind the peers, whose versions a run tells. */
export const PACKAGES = [
  'bentocache',
  'cacheable',
  'cache-manager',
  '@keyv/redis',
  'async-cache-dedupe',
  'layered-loader',
  '@epic-web/cachified',
  'tinybench',
];

export async function createAdapter(name, { url, namespace, timeoutMs }) {
  const { file, options } = ADAPTERS[name];
  const { create } = await import(`./${file}.mjs`);
  return create({ url, namespace, timeoutMs, ...options });
}
