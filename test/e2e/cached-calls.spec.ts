import { AsyncLocalStorage } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { Readable } from 'node:stream';
import { GoneException, HttpException, Injectable, NotFoundException } from '@nestjs/common';
import { firstValueFrom, of } from 'rxjs';
import {
  Cached,
  currentLoad,
  notFound,
  StampedeCacheModule,
  StampedeCacheService,
  UncacheableArgumentError,
  UncacheableValueError,
} from 'nestjs-stampede-cache';
import { deferred } from '../support/deferred.js';
import { boot, Lines } from './kit.js';

type RootOptions = Parameters<typeof StampedeCacheModule.forRoot>[0];
const root = (options: RootOptions = {}) =>
  StampedeCacheModule.forRoot({ policy: { ttl: '60s' }, ...options });

describe('The key of a call', () => {
  it('is made of all arguments by default, and none share that differ', async () => {
    let runs = 0;
    @Injectable()
    class Reader {
      @Cached()
      async find(..._args: unknown[]) {
        return (runs += 1);
      }
    }
    const reader = (await boot({ imports: [root()], providers: [Reader] })).get(Reader);
    const different = [
      [1],
      ['1'],
      [1n],
      [true],
      [null],
      ['null'],
      [],
      [['a', 'b']],
      ['a', 'b'],
      ['a:b'],
      [{ a: 1 }],
    ];
    const values = new Set<unknown>();
    for (const args of different) values.add(await reader.find(...args));
    expect(values.size).toBe(different.length);
    expect(await reader.find({ b: 1, a: 2 })).toBe(await reader.find({ a: 2, b: 1 }));
    expect(runs).toBe(different.length + 1);
  });

  it('is what the key function says, with the instance as this', async () => {
    @Injectable()
    class Reader {
      tenant = 'a';
      @Cached({
        key(id, options) {
          return [this.tenant, id, options.language];
        },
      })
      async find(id: number, options: { language: string; trace: () => void }) {
        return `${this.tenant} ${id} ${options.language}`;
      }
    }
    const app = await boot({ imports: [root()], providers: [Reader] });
    const reader = app.get(Reader);
    const options = { language: 'de', trace: () => undefined };
    expect(await reader.find(1, options)).toBe('a 1 de');
    reader.tenant = 'b';
    expect(await reader.find(1, options)).toBe('b 1 de');
    expect(app.get(StampedeCacheService).of(Reader, 'find').key(1, options)).toBe("Reader.find:['b',1,'de']");
  });

  it.each<[string, unknown[], RegExp]>([
    ['a function', [1, () => 1], /Reader\.find: argument at index \[1\].*it is a function/],
    ['a symbol', [Symbol('x')], /Reader\.find: argument at index \[0\].*symbol/],
    ['a stream', [1, 2, Readable.from([])], /Reader\.find: argument at index \[2\].*stream/],
    ['an emitter', [new EventEmitter()], /Reader\.find: argument at index \[0\].*emitter/],
    ['a function inside', [{ user: { load: () => 1 } }], /index \[0\].*\.user\.load is a function/],
  ])('refuses %s by class, method and index', async (_, args, message) => {
    @Injectable()
    class Reader {
      @Cached()
      async find(..._args: unknown[]) {
        return 1;
      }
    }
    const reader = (await boot({ imports: [root()], providers: [Reader] })).get(Reader);
    const error: unknown = await reader.find(...args).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(UncacheableArgumentError);
    expect((error as Error).message).toMatch(message);
  });

  it('carries the part that keeps tenants apart, read in the context of the caller (FC-004)', async () => {
    const tenants = new AsyncLocalStorage<string>();
    let runs = 0;
    @Injectable()
    class Profile {
      @Cached()
      async get() {
        runs += 1;
        return tenants.getStore();
      }
      @Cached({ vary: false })
      async shared() {
        return 'all';
      }
    }
    const app = await boot({
      imports: [root({ vary: () => tenants.getStore() })],
      providers: [Profile],
    });
    const profile = app.get(Profile);
    const as = (tenant: string) => tenants.run(tenant, () => profile.get());
    expect(await Promise.all([as('a'), as('b'), as('a')])).toEqual(['a', 'b', 'a']);
    expect([await as('a'), await as('b')]).toEqual(['a', 'b']);
    expect(runs).toBe(2);
    await expect(profile.get()).rejects.toThrow(/Profile\.get: vary\(\) returned undefined/);
    expect(await profile.shared()).toBe('all');
    const cache = app.get(StampedeCacheService);
    expect(await cache.with({ vary: 'b' }, () => profile.get())).toBe('b');
    expect(await tenants.run('a', () => cache.of(Profile, 'get').get())).toBe('a');
  });

  it('sees the ambient user where the key function asks for it (FC-004)', async () => {
    const users = new AsyncLocalStorage<string>();
    @Injectable()
    class Profile {
      @Cached({ key: () => users.getStore() })
      async get() {
        return users.getStore();
      }
    }
    const profile = (await boot({ imports: [root()], providers: [Profile] })).get(Profile);
    const as = (user: string) => users.run(user, () => profile.get());
    expect(await Promise.all([as('a'), as('b')])).toEqual(['a', 'b']);
    expect(await Promise.all([as('b'), as('a')])).toEqual(['b', 'a']);
  });
});

describe('A call goes straight to the method', () => {
  it('when `when` says false', async () => {
    let runs = 0;
    @Injectable()
    class Reader {
      @Cached({ when: (_id, preview) => !preview })
      async find(id: number, _preview: boolean) {
        runs += 1;
        return id;
      }
    }
    const app = await boot({ imports: [root()], providers: [Reader] });
    const reader = app.get(Reader);
    await reader.find(1, true);
    await reader.find(1, true);
    expect(runs).toBe(2);
    await reader.find(1, false);
    await reader.find(1, false);
    expect(runs).toBe(3);
    expect(app.get(StampedeCacheService).stats().outcomes.bypassed).toBe(2);
  });

  it('when the module says bypass, asked once a call and before the key; evictions still happen', async () => {
    let bypass = true;
    const asked = jest.fn(() => bypass);
    const key = jest.fn((id: number) => id);
    let runs = 0;
    @Injectable()
    class Reader {
      @Cached({ key })
      async find(id: number) {
        runs += 1;
        return id;
      }
    }
    const app = await boot({ imports: [root({ bypass: asked })], providers: [Reader] });
    const reader = app.get(Reader);
    const handle = app.get(StampedeCacheService).of(Reader, 'find');
    await reader.find(1);
    expect([runs, asked.mock.calls.length, key.mock.calls.length]).toEqual([1, 1, 0]);
    bypass = false;
    await reader.find(1);
    await reader.find(1);
    expect(runs).toBe(2);
    bypass = true;
    expect(await handle.get(1)).toBeUndefined();
    await handle.invalidate(1);
    bypass = false;
    await reader.find(1);
    expect(runs).toBe(3);
  });

  it('never by an answer that is a Promise, which would always be a yes', async () => {
    @Injectable()
    class Reader {
      @Cached({ when: (async () => false) as never })
      async find() {
        return 1;
      }
      @Cached({ when: () => 0 as never })
      async falsy() {
        return 1;
      }
    }
    const app = await boot({ imports: [root()], providers: [Reader] });
    await expect(app.get(Reader).find()).rejects.toThrow(/Reader\.find: when\(\) returned a Promise/);
    await app.get(Reader).falsy();
    expect(app.get(StampedeCacheService).stats().outcomes.bypassed).toBe(1);
    const other = await boot({ imports: [root({ bypass: (async () => true) as never })] });
    await expect(other.get(StampedeCacheService).getOrLoad('k', () => 1)).rejects.toThrow(
      /bypass\(\) returned a Promise/,
    );
  });

  it('when the caller says so, for every call inside', async () => {
    let runs = 0;
    @Injectable()
    class Reader {
      @Cached()
      async find() {
        return (runs += 1);
      }
    }
    const app = await boot({ imports: [root()], providers: [Reader] });
    const cache = app.get(StampedeCacheService);
    const reader = app.get(Reader);
    expect(await reader.find()).toBe(1);
    expect(await cache.with({ bypass: true }, () => reader.find())).toBe(2);
    expect(await cache.with({ fresh: true }, () => reader.find())).toBe(3);
    expect(await reader.find()).toBe(3);
    await expect(cache.with({ frsh: true } as never, () => reader.find())).rejects.toThrow(/'frsh'/);
  });
});

describe('What a method returns', () => {
  it("is each caller's own copy, with null and undefined themselves", async () => {
    @Injectable()
    class Reader {
      @Cached()
      async list() {
        return { at: new Date(5), ids: new Set([1]) };
      }
      @Cached()
      async none(): Promise<null> {
        return null;
      }
      @Cached()
      async nothing(): Promise<void> {}
    }
    const reader = (await boot({ imports: [root()], providers: [Reader] })).get(Reader);
    const [a, b] = await Promise.all([reader.list(), reader.list()]);
    expect(a).toEqual(b);
    expect(a).not.toBe(b);
    expect(await reader.list()).toEqual({ at: new Date(5), ids: new Set([1]) });
    expect([await reader.none(), await reader.none()]).toEqual([null, null]);
    expect([await reader.nothing(), await reader.nothing()]).toEqual([undefined, undefined]);
  });

  it.each<[string, () => unknown, RegExp]>([
    ['a stream', () => Promise.resolve(Readable.from(['a'])), /Reader\.load: .*a stream/],
    ['an Observable', () => of(1), /Reader\.load: .*Observable.*firstValueFrom/],
    ['an async iterator', () => Promise.resolve((async function* () {})()), /Reader\.load: /],
    [
      'a class instance',
      () =>
        Promise.resolve(
          new (class Row {
            id = 1;
          })(),
        ),
      /Reader\.load: .*Row/,
    ],
  ])('is refused by name if it is %s (FC-096)', async (_, result, message) => {
    @Injectable()
    class Reader {
      load(): Promise<unknown> {
        return result() as Promise<unknown>;
      }
    }
    decorateLoad(Reader);
    const reader = (await boot({ imports: [root()], providers: [Reader] })).get(Reader);
    for (let i = 0; i < 2; i++) {
      const error: unknown = await reader.load().catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(UncacheableValueError);
      expect((error as Error).message).toMatch(message);
    }
  });

  it('may be a thenable, which is awaited once (FC-096)', async () => {
    const then = jest.fn((resolve: (rows: unknown) => void) => resolve([{ id: 1 }]));
    // What a query builder is: it runs when it is awaited.
    // oxlint-disable-next-line unicorn/no-thenable
    const lazy = Object.defineProperty({}, 'then', { value: then });
    @Injectable()
    class Reader {
      load(): Promise<unknown> {
        return lazy as unknown as Promise<unknown>;
      }
    }
    decorateLoad(Reader);
    const reader = (await boot({ imports: [root()], providers: [Reader] })).get(Reader);
    expect([await reader.load(), await reader.load()]).toEqual([[{ id: 1 }], [{ id: 1 }]]);
    expect(then).toHaveBeenCalledTimes(1);
  });

  it('becomes a Promise if the method is synchronous, with one warning (FC-096)', async () => {
    const lines = new Lines();
    let runs = 0;
    @Injectable()
    class Reader {
      load(): Promise<unknown> {
        return (runs += 1) as unknown as Promise<unknown>;
      }
    }
    decorateLoad(Reader);
    const reader = (await boot({ imports: [root()], providers: [Reader] }, lines)).get(Reader);
    const results = [reader.load(), reader.load()];
    expect(results.every((result) => result instanceof Promise)).toBe(true);
    expect(await Promise.all(results)).toEqual([1, 1]);
    expect(lines.ofCache('warn')).toEqual([
      expect.stringMatching(/Reader\.load returned a value and no Promise/),
    ]);
  });

  it('may come from an Observable by firstValueFrom', async () => {
    @Injectable()
    class Reader {
      @Cached()
      async load() {
        return firstValueFrom(of(1));
      }
    }
    const reader = (await boot({ imports: [root()], providers: [Reader] })).get(Reader);
    expect([await reader.load(), await reader.load()]).toEqual([1, 1]);
  });

  function decorateLoad(type: { prototype: { load: () => Promise<unknown> } }): void {
    const descriptor = Object.getOwnPropertyDescriptor(type.prototype, 'load') as TypedPropertyDescriptor<
      () => Promise<unknown>
    >;
    Cached()(type.prototype, 'load', descriptor as never);
    Object.defineProperty(type.prototype, 'load', descriptor);
  }
});

describe('What a method throws', () => {
  it('reaches every caller of the load unchanged, and is not stored', async () => {
    const failure = new Error('no such table');
    const gate = deferred<number>();
    let runs = 0;
    @Injectable()
    class Reader {
      @Cached()
      async load() {
        runs += 1;
        return gate.promise;
      }
    }
    const reader = (await boot({ imports: [root()], providers: [Reader] })).get(Reader);
    const all = [reader.load(), reader.load()].map((call) => call.catch((error: unknown) => error));
    gate.reject(failure);
    expect(await Promise.all(all)).toEqual([failure, failure]);
    expect((await all[0]) === failure).toBe(true);
    expect(runs).toBe(1);
    await expect(reader.load()).rejects.toBe(failure);
    expect(runs).toBe(2);
  });

  it.each([
    ['NotFoundException', () => new NotFoundException('no product 5'), 404],
    ['GoneException', () => new GoneException({ why: 'sold', at: 5 }), 410],
    ['HttpException', () => new HttpException('gone', 410), 410],
    [
      'NotFoundException',
      () =>
        new (class ProductNotFound extends NotFoundException {
          readonly product = 5;
        })('no product'),
      404,
    ],
  ])('comes back from the cache as a %s', async (name, make, status) => {
    let runs = 0;
    @Injectable()
    class Reader {
      @Cached({ negativeErrors: notFound })
      async load(): Promise<number> {
        runs += 1;
        throw make();
      }
    }
    const reader = (await boot({ imports: [root()], providers: [Reader] })).get(Reader);
    const errors: HttpException[] = [];
    for (let i = 0; i < 2; i++) await reader.load().catch((error: HttpException) => errors.push(error));
    const [first, second] = errors;
    expect(runs).toBe(1);
    expect(second).not.toBe(first);
    expect(second).toBeInstanceOf(HttpException);
    const common = await import('@nestjs/common');
    expect(second).toBeInstanceOf(common[name as 'NotFoundException']);
    expect(second?.getStatus()).toBe(status);
    expect(second?.getResponse()).toEqual(first?.getResponse());
    expect([second?.message, second?.name]).toEqual([first?.message, first?.name]);
  });

  it('is no answer for other statuses', () => {
    expect(
      [400, 401, 403, 404, 409, 410, 500].filter((status) => notFound(new HttpException('', status))),
    ).toEqual([404, 410]);
    expect([notFound(new Error()), notFound({ status: 404 }), notFound(null)]).toEqual([false, false, false]);
  });
});

describe('The async context', () => {
  it('of a load is that of the caller that leads; each caller keeps its own (FC-084)', async () => {
    const requests = new AsyncLocalStorage<number>();
    const gate = deferred();
    const seen: unknown[] = [];
    @Injectable()
    class Reader {
      @Cached()
      async load() {
        await gate.promise;
        seen.push(requests.getStore());
        return 1;
      }
    }
    const reader = (await boot({ imports: [root()], providers: [Reader] })).get(Reader);
    const call = (id: number) =>
      requests.run(id, async () => {
        await reader.load();
        return requests.getStore();
      });
    const first = Array.from({ length: 100 }, (_, id) => call(id));
    gate.resolve();
    const after = Array.from({ length: 100 }, (_, id) => call(100 + id));
    expect(await Promise.all([...first, ...after])).toEqual(Array.from({ length: 200 }, (_, id) => id));
    expect(seen).toEqual([0]);
  });

  it('holds the running load, in a method and what it calls; nowhere else', async () => {
    const helper = () => currentLoad<number>();
    @Injectable()
    class Reader {
      @Cached()
      async load(id: number) {
        await Promise.resolve();
        const context = helper();
        context?.ttl('5s');
        return { key: context?.key, aborted: context?.signal.aborted, id };
      }
      @Cached()
      async skipped() {
        currentLoad()?.skip();
        return 1;
      }
    }
    const app = await boot({ imports: [root()], providers: [Reader] });
    const reader = app.get(Reader);
    const cache = app.get(StampedeCacheService);
    expect(await reader.load(1)).toEqual({ key: 'Reader.load:1', aborted: false, id: 1 });
    expect((await cache.of(Reader, 'load').inspect(1))?.freshFor).toBeLessThanOrEqual(5_000);
    await reader.skipped();
    expect(await cache.of(Reader, 'skipped').inspect()).toBeNull();
    expect(currentLoad()).toBeUndefined();
    expect(await cache.with({ bypass: true }, () => reader.load(1))).toMatchObject({ key: undefined });
    const outside = await cache.getOrLoad('k', (context) => [context === currentLoad(), currentLoad()?.key]);
    expect(outside).toEqual([true, ":'k'"]);
  });

  it('is there in a query that begins when it is awaited', async () => {
    const cache = (await boot({ imports: [root()] })).get(StampedeCacheService);
    let row = 1;
    const query: PromiseLike<number> = {
      // oxlint-disable-next-line unicorn/no-thenable
      then(...callbacks) {
        currentLoad()?.skip();
        return Promise.resolve(row).then(...callbacks);
      },
    };
    const load = () => query as Promise<number>; // all it shares with one is `then`
    expect(await cache.getOrLoad('k', load)).toBe(1);
    row = 2;
    expect(await cache.getOrLoad('k', load)).toBe(2);
  });

  it('shows the load of the cache that is asked last, and that of the outer one after it', async () => {
    const app = await boot({ imports: [root(), root({ name: 'b' })] });
    const [a, b] = [app.get(StampedeCacheService), app.get<StampedeCacheService>('StampedeCacheService:b')];
    const keys = await a.getOrLoad('outer', async () => {
      const inner = await b.getOrLoad('inner', () => currentLoad()?.key);
      return [currentLoad()?.key, inner];
    });
    expect(keys).toEqual([":'outer'", ":'inner'"]);
  });
});
