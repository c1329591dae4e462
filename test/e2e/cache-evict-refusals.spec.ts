import { Injectable, type Type } from '@nestjs/common';
import { Cached, CacheEvict, CachePut, ConfigurationError, StampedeCacheModule } from 'nestjs-stampede-cache';
import { boot, bootError } from './kit.js';

const root = () => StampedeCacheModule.forRoot({ policy: { ttl: '60s' } });

@Injectable()
class Products {
  @Cached()
  async find(id: number) {
    return id;
  }
  async plain() {
    return 1;
  }
}

const refusal = async (...providers: Type[]) => {
  const error = await bootError({ imports: [root()], providers });
  expect(error).toBeInstanceOf(ConfigurationError);
  return error.message;
};

/** A decorator as JavaScript sees it. */
type Untyped = (options: unknown) => (...on: unknown[]) => void;

/** What the bootstrap says of a method with these options. */
async function refusalOf(options: unknown, decorate: Untyped = CacheEvict as Untyped) {
  @Injectable()
  class Editor {
    @Cached()
    async mine(id: number) {
      return id;
    }
    @decorate(options)
    async update(_id: number) {
      return 1;
    }
  }
  return refusal(Products, Editor);
}

const missing = undefined as unknown as typeof Products;

describe('The bootstrap refuses, by class, method, option and value, an eviction', () => {
  it.each<[string, unknown, RegExp]>([
    ['without options', undefined, /takes options such as .*received undefined/],
    ['of nothing', {}, /of is the name of a @Cached method.*received undefined/],
    ['with an unknown option', { of: 'mine', arg: 1 }, /unknown option 'arg'\. Known: of, args, tags/],
    ['of a name that is none', { of: '' }, /of is .*received ''/],
    [
      'of a class and method without a function',
      { of: [Products, 'find'] },
      /of is .*\(\) => \[Class, 'method'\].*received \[/,
    ],
    ['of a method the class lacks', { of: 'mnie' }, /there is no method Editor\.mnie\. .*There are: mine\./],
    ['of a method that is not cached', { of: 'update' }, /Editor\.update is not @Cached/],
    [
      'of a method another class lacks',
      { of: () => [Products, 'fnid'] },
      /there is no method Products\.fnid\. .*There are: find\./,
    ],
    [
      'of a method another class does not cache',
      { of: () => [Products, 'plain'] },
      /Products\.plain is not @Cached/,
    ],
    [
      'of a class that is undefined',
      { of: () => [missing, 'find'] },
      /of\(\) returned undefined in place of the class.*exported/,
    ],
    ['of no class', { of: () => [{}, 'find'] }, /of\(\) returned \{\} in place of the class/],
    [
      'of what is no pair',
      { of: () => Products },
      /of\(\) returns \[Class, 'method'\], received the function Products/,
    ],
    ['of a class without a method', { of: () => [Products] }, /of\(\) returns \[Class, 'method'\], received/],
    [
      'of what throws',
      {
        of: () => {
          throw new ReferenceError("Cannot access 'Products' before initialization");
        },
      },
      /of\(\) failed with ReferenceError: Cannot access 'Products'/,
    ],
    ['with args that are no function', { of: 'mine', args: [1] }, /args is a function.*received \[ 1 \]/],
    ['with args and no method', { tags: ['a'], args: () => [1] }, /args are those of a @Cached method/],
    ['with tags that are none', { tags: 'a' }, /tags are an array.*received 'a'/],
    ['with no tags', { tags: [] }, /tags are an array.*received \[\]/],
    ['with an empty tag', { of: 'mine', tags: ['a', ''] }, /tags are an array.*received \[ 'a', '' \]/],
    ['at another time', { of: 'mine', when: 'later' }, /when is 'after' or 'before', received 'later'/],
    [
      'with another onFailure',
      { of: 'mine', onFailure: 'ignore' },
      /onFailure is 'retry' or 'throw', received 'ignore'/,
    ],
    ['with a cache beside of', { of: 'mine', cache: 'b' }, /cache 'b' stands beside of/],
    ['with a cache that is no name', { tags: ['a'], cache: 5 }, /cache is a text.*received 5/],
    [
      'in a cache that is not configured',
      { tags: ['a'], cache: 'b' },
      /the cache 'b', which is not configured/,
    ],
  ])('%s', async (_, options, message) => {
    const text = await refusalOf(options);
    expect(text).toMatch(message);
    expect(text).toMatch(/^@CacheEvict on Editor\.update: /);
  });

  it.each<[string, unknown, RegExp]>([
    ['without args', { of: 'mine' }, /args is missing/],
    ['of nothing', { args: () => [1] }, /of is the name/],
    [
      'with options of @CacheEvict',
      { of: 'mine', args: () => [1], tags: ['a'] },
      /unknown option 'tags'. Known: of, args\./,
    ],
  ])('%s (@CachePut)', async (_, options, message) => {
    const text = await refusalOf(options, CachePut as Untyped);
    expect(text).toMatch(message);
    expect(text).toMatch(/^@CachePut on Editor\.update: /);
  });

  it('of a class that is not in the application, or of which there are several', async () => {
    class Absent {
      @Cached()
      async find() {
        return 1;
      }
    }
    abstract class Base {
      @Cached()
      async find() {
        return 1;
      }
    }
    @Injectable()
    class Users extends Base {}
    @Injectable()
    class Posts extends Base {}
    @Injectable()
    class Editor {
      @CacheEvict({ of: () => [Absent, 'find'] })
      async absent() {
        return 1;
      }
      @CacheEvict({ of: () => [Base, 'find'] })
      async several() {
        return 1;
      }
      @CacheEvict({ of: () => [Users, 'find'] })
      async one() {
        return 1;
      }
    }
    expect((await refusal(Users, Posts, Editor)).split('\n')).toEqual([
      expect.stringMatching(/^@CacheEvict on Editor\.absent: Absent\.find is of a class that is no provider/),
      expect.stringMatching(/^@CacheEvict on Editor\.several: Base\.find is inherited by Users, Posts/),
    ]);
  });

  it('along with the other problems, and a broken target only once', async () => {
    @Injectable()
    class Editor {
      @Cached({ ttl: 'x' as '1s' })
      async broken() {
        return 1;
      }
      @CacheEvict({ of: 'broken' })
      async update() {
        return 1;
      }
      @CacheEvict({ of: 'absent' as 'broken' })
      async updateToo() {
        return 1;
      }
    }
    expect((await refusal(Editor)).split('\n')).toEqual([
      expect.stringMatching(/^Editor\.broken: ttl/),
      expect.stringMatching(/^@CacheEvict on Editor\.updateToo: there is no method/),
    ]);
  });

  it('whose cache is not configured', async () => {
    @Injectable()
    class Editor {
      @Cached({ cache: 'b' })
      async find() {
        return 1;
      }
      @CacheEvict({ of: 'find' })
      async update() {
        return 1;
      }
      @CacheEvict({ tags: ['a'] })
      async retag() {
        return 1;
      }
    }
    expect((await refusal(Editor)).split('\n')).toEqual([
      expect.stringMatching(/^Editor\.find: @Cached uses the cache 'b', which is not configured/),
    ]);
    const error = await bootError({
      imports: [StampedeCacheModule.forRoot({ name: 'b', namespace: 'b', policy: { ttl: '1s' } })],
      providers: [Editor],
    });
    expect(error.message).toMatch(/^@CacheEvict on Editor\.retag: the tags are in the default cache/);
  });

  it('and asks of() once the application starts, not before', async () => {
    let asked = 0;
    @Injectable()
    class Editor {
      @CacheEvict({
        of: () => {
          asked += 1;
          return [Products, 'find'];
        },
      })
      async update() {
        return 1;
      }
    }
    expect(asked).toBe(0);
    const app = await boot({ imports: [root()], providers: [Products, Editor] });
    expect(asked).toBe(1);
    await app.get(Editor).update();
    expect(asked).toBe(1);
  });
});

describe('The class definition refuses @CacheEvict and @CachePut', () => {
  class Odd {
    static async load() {
      return 1;
    }
    get value() {
      return 1;
    }
    async *rows() {
      yield 1;
    }
  }
  const of = (target: object, key: string) => Object.getOwnPropertyDescriptor(target, key);

  it.each<[string, readonly unknown[], RegExp]>([
    ['on a class', [Odd], /stands on the class Odd: put it on the methods/],
    ['on a static method', [Odd, 'load', of(Odd, 'load')], /Odd\.load is static/],
    ['on a getter', [Odd.prototype, 'value', of(Odd.prototype, 'value')], /Odd\.value is a getter/],
    ['on a property', [Odd.prototype, 'field'], /Odd\.field is not a method/],
    ['on a generator', [Odd.prototype, 'rows', of(Odd.prototype, 'rows')], /Odd\.rows is a generator/],
  ])('%s', (_, target, message) => {
    for (const decorator of [CacheEvict as Untyped, CachePut as Untyped]) {
      const act = () => decorator({ of: () => [Products, 'find'], args: () => [1] })(...target);
      expect(act).toThrow(ConfigurationError);
      expect(act).toThrow(message);
    }
  });
});
