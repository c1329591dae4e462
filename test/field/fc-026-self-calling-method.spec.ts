import { Injectable } from '@nestjs/common';
import { Cached, ReentrantLoadError } from 'nestjs-stampede-cache';
import { errorOf } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

@Injectable()
class Loop {
  @Cached()
  async a(id: number): Promise<number> {
    return this.a(id);
  }

  @Cached()
  async b(id: number): Promise<number> {
    return this.c(id);
  }

  @Cached()
  async c(id: number): Promise<number> {
    return this.b(id);
  }

  @Cached()
  async countdown(id: number): Promise<number> {
    return id === 0 ? 0 : 1 + (await this.countdown(id - 1));
  }
}

abstract class Port {
  abstract find(id: number): Promise<number>;
}

/** Under one name, as an interface and what implements it may be. */
@Injectable()
class Adapter extends Port {
  @Cached({ name: 'products', key: (id) => id })
  async find(id: number): Promise<number> {
    return id;
  }
}

@Injectable()
class Facade extends Port {
  constructor(private readonly adapter: Adapter) {
    super();
  }

  @Cached({ name: 'products', key: (id) => id })
  async find(id: number): Promise<number> {
    return this.adapter.find(id);
  }
}

describe('FC-026: a cached method that reaches itself', () => {
  const start = () => here.app({ providers: [Loop, Adapter, Facade], cache: { policy: { lease: '30s' } } });

  it.each<[string, (loop: Loop, facade: Facade) => Promise<unknown>, RegExp]>([
    ['directly', (loop) => loop.a(1), /Loop\.a:1/],
    ['over another one', (loop) => loop.b(1), /Loop\.b:1/],
    ['as two methods that share a name and a key', (_, facade) => facade.find(1), /products:1/],
  ])('%s fails at once, with the key, and leaves nothing behind', async (_, call, key) => {
    const app = await start();
    const error = await errorOf(call(app.get(Loop), app.get(Facade)));
    expect(error).toBeInstanceOf(ReentrantLoadError);
    expect(error.message).toMatch(key);
    expect(app.cache.stats().active).toEqual({
      flights: 0,
      refreshes: 0,
      unsettled: 0,
      slots: 0,
      queued: 0,
      callers: 0,
    });
    expect(await here.leases()).toEqual([]);
    expect(await here.entries()).toEqual([]);
  });

  it('under other keys is fine', async () => {
    const app = await start();
    expect(await app.get(Loop).countdown(5)).toBe(5);
    expect(await here.entries()).toHaveLength(6);
  });

  it('through another caller of the same key, who waits for it, is no cycle of that caller', async () => {
    const app = await start();
    const results = await Promise.allSettled([1, 2, 3].map(() => app.get(Loop).a(1)));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });
});
