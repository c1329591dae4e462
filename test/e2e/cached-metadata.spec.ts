import 'reflect-metadata';
import { applyDecorators, Injectable, SetMetadata } from '@nestjs/common';
import { asMethodDecorator, Cached, StampedeCacheModule } from 'nestjs-stampede-cache';
import { boot } from './kit.js';

/** What a transaction decorator does: another function takes the method's place. */
function Around(log: string[]): MethodDecorator {
  return (_target, _method, descriptor) => {
    const inner = descriptor.value as unknown as (...args: unknown[]) => Promise<unknown>;
    descriptor.value = async function (this: unknown, ...args: unknown[]) {
      log.push('around');
      return inner.apply(this, args);
    } as never;
  };
}

/** A method as an object, not to be called. */
const methodOf = (host: object, name: string) => Reflect.get(host, name) as { name: string; length: number };

describe('A @Cached method keeps', () => {
  it('its name, length, own properties and parameter types (FC-082)', () => {
    const secret = Symbol('secret');
    const own = (_target: object, _method: string | symbol, descriptor: PropertyDescriptor) => {
      Object.assign(descriptor.value, { mark: 5 });
    };
    class Reader {
      @Cached({ ttl: '60s' })
      @own
      async find(id: number, name: string) {
        return [id, name];
      }
      @Cached({ ttl: '60s' })
      async [secret](id: number) {
        return id;
      }
    }
    const find = methodOf(Reader.prototype, 'find');
    expect([find.name, find.length, (find as unknown as { mark: number }).mark]).toEqual(['find', 2, 5]);
    expect([Reader.prototype[secret].name, Reader.prototype[secret].length]).toEqual(['[secret]', 1]);
    expect(Reflect.getMetadata('design:paramtypes', Reader.prototype, 'find')).toEqual([Number, String]);
    const descriptor = Object.getOwnPropertyDescriptor(Reader.prototype, 'find');
    expect([descriptor?.enumerable, descriptor?.writable]).toEqual([false, true]);
    expect(Object.keys(Reader.prototype)).toEqual([]);
    expect(Object.getOwnPropertyNames(new Reader())).toEqual([]);
  });

  it('all reflect-metadata of the function, whatever the order of decorators (FC-005)', () => {
    const roles = SetMetadata('roles', ['admin']);
    const tag = SetMetadata(Symbol.for('tag'), 5);
    class Bare {
      @roles
      @tag
      async get() {
        return 1;
      }
    }
    class First {
      @Cached({ ttl: '60s' })
      @roles
      @tag
      async get() {
        return 1;
      }
    }
    class Middle {
      @roles
      @Cached({ ttl: '60s' })
      @tag
      async get() {
        return 1;
      }
    }
    class Last {
      @roles
      @tag
      @Cached({ ttl: '60s' })
      async get() {
        return 1;
      }
    }
    const read = (type: { prototype: { get: object } }) => {
      const method = type.prototype.get;
      const keys = Reflect.getMetadataKeys(method) as string[];
      return new Map(keys.map((key) => [key, Reflect.getMetadata(key, method)]));
    };
    expect(read(Bare).get('roles')).toEqual(['admin']);
    for (const type of [First, Middle, Last]) expect(read(type)).toEqual(read(Bare));
  });

  it('its place among decorators that replace the method: outer on a miss only, inner always', async () => {
    const outer: string[] = [];
    const inner: string[] = [];
    @Injectable()
    class Reader {
      @Cached({ ttl: '60s' })
      @Around(inner)
      async cachedOutside(id: number) {
        return id;
      }
      @Around(outer)
      @Cached({ ttl: '60s' })
      async cachedInside(id: number) {
        return id;
      }
    }
    const app = await boot({ imports: [StampedeCacheModule.forRoot()], providers: [Reader] });
    const reader = app.get(Reader);
    for (let i = 0; i < 3; i++) {
      expect([await reader.cachedOutside(1), await reader.cachedInside(1)]).toEqual([1, 1]);
    }
    expect([inner.length, outer.length]).toEqual([1, 3]);
  });

  it('working inside applyDecorators, by asMethodDecorator', async () => {
    const CachedByRole = (role: string) =>
      applyDecorators(asMethodDecorator(Cached({ ttl: '60s' })), SetMetadata('role', role));
    let runs = 0;
    @Injectable()
    class Reader {
      @CachedByRole('admin')
      async get(id: number) {
        runs += 1;
        return id;
      }
    }
    const app = await boot({ imports: [StampedeCacheModule.forRoot()], providers: [Reader] });
    const reader = app.get(Reader);
    expect([await reader.get(1), await reader.get(1), runs]).toEqual([1, 1, 1]);
    expect(Reflect.getMetadata('role', methodOf(reader, 'get'))).toBe('admin');
  });

  it('its own type of exception for what is no function inside asMethodDecorator', () => {
    expect(() => asMethodDecorator(Cached({ ttl: '60s' }))({}, 'field', { value: 5 } as never)).toThrow(
      /not a method/,
    );
  });
});
