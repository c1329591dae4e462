import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { until } from '../support/until.js';
import { cluster } from './support/cluster.js';
import { field, NAMESPACE } from './support/field.js';

const here = field();
const servers = cluster();

const TEXTS = [
  '{org1}:a',
  'org1:a',
  'a}{b',
  '{',
  '}',
  '{}',
  '}{',
  '{{org1}}:a',
  '{org1',
  'org1}',
  '%7Borg1%7D:a',
  'a:{b}:{c}',
];

describe('FC-105: braces, on a cluster', () => {
  const start = () => here.app({ cache: { redis: { nodes: servers().nodes } } });

  it('in keys and tags are text: each is its own, is stored, hit, invalidated, and no command is refused', async () => {
    const [one, two] = [await start(), await start()];
    for (const text of TEXTS) {
      expect(await one.cache.getOrLoad(text, () => text, { tags: [text] })).toBe(text);
    }
    for (const text of TEXTS) expect(await two.cache.get(text)).toBe(text);
    for (const [at, text] of TEXTS.entries()) {
      await (at % 2 ? one.cache.invalidate(text) : one.cache.invalidateTags(text));
      for (const { cache } of [one, two]) {
        await until(async () => (await cache.get(text)) === undefined, { what: `${text} to be gone` });
        for (const other of TEXTS.slice(at + 1))
          expect([text, await cache.get(other)]).toEqual([text, other]);
      }
    }
    expect(await servers().errors()).not.toContain('CROSSSLOT');
    expect([one, two].map(({ cache }) => cache.stats().storeFailures)).toEqual([0, 0]);
    expect(one.cache.stats().publishes).toEqual({ stored: TEXTS.length, fenced: 0, skipped: 0 });
  }, 30_000);

  it('never choose the slot: the whole encoded key is the one hash tag of its keys', async () => {
    const app = await start();
    for (const text of TEXTS) await app.cache.set(text, 1, { tags: [text] });
    const names = (await servers().keys(`${NAMESPACE}:[dt]:*`)).flat();
    expect(names).toHaveLength(2 * TEXTS.length);
    for (const name of names) expect(name).toMatch(/^field:[dt]:\{[^{}]+\}$/);
    // The same organisation in braces is no slot of its own.
    const slots = await Promise.all(names.map((name) => servers().slotOf(name)));
    expect(new Set(slots).size).toBeGreaterThan(TEXTS.length);
    expect(slots).not.toContain(await servers().slotOf('{org1}'));
  });

  it.each(TEXTS)('in a name and a version are text too: %j', async (text) => {
    @Injectable()
    class Braced {
      loads = 0;
      @Cached({ name: text, version: text })
      async find(id: string): Promise<string> {
        this.loads += 1;
        return id;
      }
    }
    const redis = { nodes: servers().nodes };
    const app = await here.app({ cache: { redis }, providers: [Braced] });
    const braced = app.get(Braced);
    for (const id of [text, text]) expect(await braced.find(id)).toBe(id);
    expect(braced.loads).toBe(1);
    await app.cache.of(Braced, 'find').invalidate(text);
    expect(await braced.find(text)).toBe(text);
    expect(braced.loads).toBe(2);
    await app.cache.of(Braced, 'find').clear();
    expect(await braced.find(text)).toBe(text);
    expect(braced.loads).toBe(3);
    expect(app.cache.stats().storeFailures).toBe(0);
  });

  it.each(['{org1}', 'a}', '{'])('in a namespace are refused at bootstrap: %j', async (namespace) => {
    const error = await here.bootError(here.withCache({ cache: { namespace } }));
    expect(error.message).toMatch(/namespace.*without \{ \}/);
  });
});

describe('FC-105: commands that the server refuses', () => {
  it('are told of, by events and counters: they do not look like misses', async () => {
    const { host, port } = here.redis;
    await here.raw.call(
      'ACL',
      'SETUSER',
      'reader',
      'on',
      '>secret',
      '~*',
      '&*',
      '+@all',
      '-evalsha',
      '-eval',
    );
    const app = await here.app({ cache: { redis: `redis://reader:secret@${host}:${port}` } });
    expect(await app.cache.getOrLoad('k', () => 1)).toBe(1);
    expect(await app.cache.getOrLoad('k', () => 2)).toBe(2);
    expect(app.cache.stats().storeFailures).toBeGreaterThan(0);
    const reasons = app.events.flatMap((event) => (event.type === 'load.start' ? [event.reason] : []));
    expect(reasons).toEqual(['redis_down', 'redis_down']);
    await expect(app.cache.invalidate('k')).rejects.toThrow(/not acknowledged.*(NOPERM|permission)/s);
  });
});
