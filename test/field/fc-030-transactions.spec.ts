import { Injectable } from '@nestjs/common';
import { Cached, CacheEvict, CachePut } from 'nestjs-stampede-cache';
import { deferred } from '../support/deferred.js';
import { until } from '../support/until.js';
import type { App } from './support/app.js';
import { field } from './support/field.js';
import { Rows } from './support/rows.js';

const here = field();
let rows = new Rows();

@Injectable()
class Documents {
  loads = 0;

  @Cached({ tags: ['documents'] })
  async find(id: string): Promise<string | undefined> {
    this.loads += 1;
    return rows.read(id);
  }

  @CacheEvict({ of: 'find', args: (_result, id) => [id] })
  async update(id: string, value: string): Promise<void> {
    rows.write(id, value);
  }

  @CachePut({ of: 'find', args: (_result, id) => [id] })
  async put(id: string, value: string): Promise<string | undefined> {
    rows.write(id, value);
    return value;
  }
}

interface Kit {
  readonly writer: App;
  readonly apps: readonly App[];
  /** What every process answers now. */
  readonly seen: () => Promise<(string | undefined)[]>;
}

async function start(cache = {}): Promise<Kit> {
  rows = new Rows({ d: 'old' });
  const apps = [
    await here.app({ cache, providers: [Documents] }),
    await here.app({ cache, providers: [Documents] }),
  ] as const;
  const seen = () => Promise.all(apps.map((app) => app.get(Documents).find('d')));
  expect(await seen()).toEqual(['old', 'old']);
  return { writer: apps[0], apps, seen };
}

type Write = readonly [what: string, write: (app: App) => Promise<unknown>];

const change = (act: (app: App) => Promise<unknown>) => async (app: App) => {
  rows.write('d', 'new');
  await act(app);
};

const WRITES: readonly Write[] = [
  ['invalidate', change(({ cache }) => cache.of(Documents, 'find').invalidate('d'))],
  ['invalidateTags', change(({ cache }) => cache.invalidateTags('documents'))],
  ['clear of the method', change(({ cache }) => cache.of(Documents, 'find').clear())],
  ['clear', change(({ cache }) => cache.clear())],
  ['set', change(({ cache }) => cache.of(Documents, 'find').set(['d'], 'new'))],
  ['@CacheEvict', (app) => app.get(Documents).update('d', 'new')],
  ['@CachePut', (app) => app.get(Documents).put('d', 'new')],
];

/** A transaction that has written and announced its change, and waits to be told how to end. */
function begin(app: App, write: Write[1], helper: boolean) {
  const [written, end] = [deferred(), deferred()];
  const transaction = () =>
    rows.transaction(async () => {
      await write(app);
      written.resolve();
      await end.promise;
    });
  const done = helper ? app.cache.deferInvalidations(transaction) : transaction();
  return {
    written: written.promise,
    commit: () => end.resolve(),
    rollback: () => end.reject(new Error('rollback')),
    done,
  };
}

describe('FC-030: a change announced inside a transaction, with a reader before the commit', () => {
  it.each(WRITES)('with deferInvalidations is seen by every read after it: %s', async (_, write) => {
    const { writer, seen } = await start();
    const tx = begin(writer, write, true);
    await tx.written;
    expect(await seen()).toEqual(['old', 'old']);
    tx.commit();
    await tx.done;
    // The writer's own process at once, the others within coherence.maxLag.
    expect(await writer.get(Documents).find('d')).toBe('new');
    await until(async () => (await seen()).join() === 'new,new', { what: 'the other process to know' });
  });

  it.each(WRITES)(
    'and rolled back leaves the old row, from the cache, and no error of its own: %s',
    async (_, write) => {
      const { writer, apps, seen } = await start();
      const loads = apps.map((app) => app.get(Documents).loads);
      const tx = begin(writer, write, true);
      await tx.written;
      expect(await seen()).toEqual(['old', 'old']);
      tx.rollback();
      await expect(tx.done).rejects.toThrow('rollback');
      expect(await seen()).toEqual(['old', 'old']);
      expect(apps.map((app) => app.get(Documents).loads)).toEqual(loads);
      expect(writer.cache.stats().invalidations).toBe(0);
    },
  );

  it('without it leaves the old row behind: the hazard that the helper is there for', async () => {
    const { writer, seen } = await start();
    const tx = begin(writer, WRITES[0]![1], false);
    await tx.written;
    expect(await seen()).toEqual(['old', 'old']);
    tx.commit();
    await tx.done;
    expect(await seen()).toEqual(['old', 'old']);
  });

  it.each(WRITES.slice(0, 5))('after the commit needs no helper: %s', async (_, write) => {
    const { writer, seen } = await start();
    await rows.transaction(async () => rows.write('d', 'new'));
    await write(writer);
    expect(await writer.get(Documents).find('d')).toBe('new');
    await until(async () => (await seen()).join() === 'new,new', { what: 'the other process to know' });
  });

  it('is not undone by a load that read before the commit and ends after the deferred change', async () => {
    const { writer, apps } = await start();
    const reader = apps[1]!;
    const [hasRead, go] = [deferred(), deferred()];
    const tx = begin(
      writer,
      change(({ cache }) => cache.invalidate('k')),
      true,
    );
    await tx.written;
    const early = reader.cache.getOrLoad('k', async () => {
      const row = rows.read('d');
      hasRead.resolve();
      await go.promise;
      return row;
    });
    await hasRead.promise;
    tx.commit();
    await tx.done;
    go.resolve();
    await early;
    for (const { cache } of apps) expect(await cache.getOrLoad('k', () => rows.read('d'))).toBe('new');
  });

  it('with `bypass` for transactions leaves nothing uncommitted in the cache', async () => {
    const { writer, seen } = await start({ bypass: () => rows.inTransaction });
    const documents = writer.get(Documents);
    const run = writer.cache.deferInvalidations(() =>
      rows.transaction(async () => {
        await documents.update('d', 'uncommitted');
        // It reads its own writes, and nobody else does.
        expect(await documents.find('d')).toBe('uncommitted');
        throw new Error('rollback');
      }),
    );
    await expect(run).rejects.toThrow('rollback');
    expect(await seen()).toEqual(['old', 'old']);
  });

  it('and asked again within `holdOff` is answered, and not stored: for replicas that lag', async () => {
    const { writer, apps } = await start();
    const replica = new Rows({ d: 'old' });
    const read = () => Promise.all(apps.map(({ cache }) => cache.getOrLoad('r', () => replica.read('d'))));
    expect(await read()).toEqual(['old', 'old']);
    rows.write('d', 'new');
    await writer.cache.invalidate('r', { holdOff: '1h' });
    expect(await read()).toEqual(['old', 'old']);
    replica.write('d', 'new');
    expect(await read()).toEqual(['new', 'new']);
    expect((await here.entries()).filter((name) => name.includes("'r'"))).toEqual([]);
  });
});
