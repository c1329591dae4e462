import { Injectable, Scope } from '@nestjs/common';
import { ContextIdFactory } from '@nestjs/core';
import { Cached, ConfigurationError, StampedeCacheModule, StampedeCacheService } from 'nestjs-stampede-cache';
import { deferred } from '../support/deferred.js';
import { until } from '../support/until.js';
import { boot } from './kit.js';

type RootOptions = Parameters<typeof StampedeCacheModule.forRoot>[0];

@Injectable()
class Shop {
  runs = 0;
  gate: Promise<void> | undefined;
  @Cached({ stale: '1h', jitter: 0 })
  async find(id: number, _language?: string) {
    await this.gate;
    return { id, run: (this.runs += 1) };
  }
  @Cached()
  async all() {
    return (this.runs += 1);
  }
  @Cached({ version: 3 })
  async versioned(id: number) {
    return id;
  }
  @Cached()
  async around(id: number) {
    return [await this.all(), id, (this.runs += 1)];
  }
}

async function shop(options: RootOptions = {}) {
  const app = await boot({
    imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s' }, ...options })],
    providers: [Shop],
  });
  return { it: app.get(Shop), cache: app.get(StampedeCacheService) };
}

describe('A handle of a method', () => {
  it('invalidates, with a hold-off too', async () => {
    const { it, cache } = await shop();
    const find = cache.of(Shop, 'find');
    await it.find(1);
    await find.invalidate(1);
    expect(await it.find(1)).toEqual({ id: 1, run: 2 });
    await find.invalidate(1, { holdOff: '300ms' });
    expect([await it.find(1), await it.find(1)]).toEqual([
      { id: 1, run: 3 },
      { id: 1, run: 4 },
    ]);
    await until(async () => (await it.find(1)).run === (await it.find(1)).run, {
      what: 'the end of the hold-off',
    });
    await cache.of(Shop, 'all').invalidate({ holdOff: '1h' });
    expect(await it.all()).not.toBe(await it.all());
    await expect(find.invalidate(1, { holdOff: 'x' as '1s' })).rejects.toThrow(
      /Shop\.find: invalidate\(\): holdOff: 'x'/,
    );
    await expect(find.expire(1, { holdOff: '1s' } as never)).rejects.toThrow(
      /Shop\.find: expire\(\) takes no/,
    );
  });

  it('expires: the next reader gets the old value and refreshes it', async () => {
    const { it, cache } = await shop();
    await it.find(1);
    await cache.of(it, 'find').expire(1);
    expect(await cache.of(it, 'find').inspect(1)).toMatchObject({ state: 'stale' });
    expect(await it.find(1)).toEqual({ id: 1, run: 1 });
    await until(async () => (await it.find(1)).run === 2, { what: 'the refresh' });
  });

  it('clears every entry of its method, of all parts, and no other', async () => {
    let tenant = 'a';
    const { it, cache } = await shop({ vary: () => tenant });
    await it.find(1);
    await it.all();
    tenant = 'b';
    await it.find(2);
    await cache.of(Shop, 'find').clear();
    expect(await it.find(2)).toEqual({ id: 2, run: 4 });
    tenant = 'a';
    expect([await it.find(1), await it.all()]).toEqual([{ id: 1, run: 5 }, 2]);
  });

  it('goes by another vary part, or none', async () => {
    let tenant: string | undefined = 'a';
    const { it, cache } = await shop({ vary: () => tenant });
    const find = cache.of(Shop, 'find');
    await it.find(1);
    expect(find.vary('a').key(1)).toBe(find.key(1));
    expect(find.vary('b').key(1)).toBe("Shop.find@'b':1");
    expect(find.vary(false).key(1)).toBe('Shop.find:1');
    expect(find.vary('b').vary('c').key(1)).toBe("Shop.find@'c':1");
    tenant = undefined;
    await find.vary('b').set([1], { id: 1, run: 100 });
    expect(await find.vary('b').get(1)).toEqual({ id: 1, run: 100 });
    expect(await find.vary('b').refresh(2)).toEqual({ id: 2, run: 2 });
    await find.vary('a').invalidate(1);
    for (const act of [
      () => find.invalidate(1),
      () => find.expire(1),
      () => find.set([1], { id: 1, run: 1 }),
    ]) {
      await expect(act()).rejects.toThrow(/Shop\.find: vary\(\) returned undefined/);
    }
    expect(() => find.vary(undefined)).toThrow(/Shop\.find: vary\(\).*received undefined/);
    await find.clear();
    tenant = 'b';
    expect(await it.find(1)).toEqual({ id: 1, run: 3 });
  });

  it('tells the version of an entry', async () => {
    const { it, cache } = await shop();
    await it.versioned(1);
    expect(await cache.of(Shop, 'versioned').inspect(1)).toMatchObject({
      version: '3',
      key: 'Shop.versioned:1',
    });
    await it.all();
    expect(await cache.of(Shop, 'all').inspect()).toMatchObject({ version: undefined });
  });
});

it('A handle clears all entries of its method and no single one', async () => {
  const { it: here, cache } = await shop();
  const find = cache.of(Shop, 'find');
  await here.find(1);
  const loose = find as unknown as { clear(id: number): Promise<void> }; // as JavaScript may
  await expect(loose.clear(1)).rejects.toThrow(/Shop\.find: clear\(\).*received \[ 1 \].*invalidate\(\)/);
  expect(await find.get(1)).toEqual({ id: 1, run: 1 });
});

describe('refresh() of a handle', () => {
  it('is refused inside a transaction: it would store what is not committed yet', async () => {
    const { it: here, cache } = await shop();
    await here.find(1);
    const run = cache.deferInvalidations(() => cache.of(Shop, 'find').refresh(1));

    await expect(run).rejects.toThrow(/Shop\.find: refresh\(\) inside deferInvalidations\(\).*expire\(\)/);
    expect(await here.find(1)).toEqual({ id: 1, run: 1 });
  });

  it('loads anew on the instance, stores and returns the value', async () => {
    const { it, cache } = await shop();
    await it.find(1);
    for (const host of [Shop, it]) {
      const fresh = await cache.of(host, 'find').refresh(1);
      expect(fresh).toEqual({ id: 1, run: it.runs });
      expect(await it.find(1)).toEqual(fresh);
    }
    expect(it.runs).toBe(3);
  });

  it('begins after the call: it joins no load that runs already, and those who ask then share it', async () => {
    const { it, cache } = await shop();
    const gate = deferred();
    it.gate = gate.promise;
    const running = it.find(1);
    await until(() => cache.stats().active.slots === 1);
    const [one, two] = [cache.of(Shop, 'find').refresh(1), cache.of(Shop, 'find').refresh(1)];
    // They wait for the running load to give up its lease: one load at a time.
    await until(() => cache.stats().active.callers === 3);
    gate.resolve();
    await running;
    expect(await one).toEqual(await two);
    expect(it.runs).toBe(2);
  });

  it('does not force what the method itself calls', async () => {
    const { it, cache } = await shop();
    const first = await it.all();
    await it.around(1);
    expect(await cache.of(Shop, 'around').refresh(1)).toEqual([first, 1, 3]);
  });

  it('needs an instance: of a request-scoped class, of several or of none it says so', async () => {
    @Injectable({ scope: Scope.REQUEST })
    class PerRequest {
      tenant = 'a';
      @Cached({
        key(id) {
          return [this.tenant, id];
        },
      })
      async find(id: number) {
        return [this.tenant, id];
      }
    }
    const app = await boot({
      imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s' } })],
      providers: [PerRequest],
    });
    const cache = app.get(StampedeCacheService);
    const error: unknown = await cache
      .of(PerRequest, 'find')
      .refresh(1)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as Error).message).toMatch(/PerRequest\.find: refresh\(\).*of\(instance, 'find'\)/);
    // Its key function knows no `this` either.
    await expect(cache.of(PerRequest, 'find').invalidate(1)).rejects.toThrow(
      /key\(\) failed without an instance.*of\(instance, …\)/,
    );
    const instance = await app.resolve(PerRequest, ContextIdFactory.create());
    expect(await cache.of(instance, 'find').refresh(1)).toEqual(['a', 1]);
    expect(await cache.of(instance, 'find').get(1)).toEqual(['a', 1]);
  });

  it('goes straight to the method with bypass, and rejects with its error', async () => {
    const { it, cache } = await shop({ bypass: () => true });
    expect(await cache.of(it, 'find').refresh(1)).toEqual({ id: 1, run: 1 });
    const failing = deferred();
    it.gate = failing.promise;
    failing.reject(new Error('down'));
    await expect(cache.of(it, 'find').refresh(1)).rejects.toThrow('down');
  });
});
