import {
  ClassSerializerInterceptor,
  Controller,
  Get,
  Inject,
  Injectable,
  Param,
  ParseIntPipe,
  UseInterceptors,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import * as classTransformer from 'class-transformer';
import { CachedRoute, StampedeCacheInterceptor } from 'nestjs-stampede-cache';
import { EVERYWHERE, host, isHit, PLATFORMS } from './kit.js';

/** Nest's own, on the class-transformer that this file's classes are declared with. */
@Injectable()
class Serializer extends ClassSerializerInterceptor {
  constructor(@Inject(Reflector) reflector: Reflector) {
    super(reflector, { transformerPackage: classTransformer });
  }
}

class User {
  readonly name = 'ann';
  readonly password = 'secret';
}
classTransformer.Exclude()(User.prototype, 'password');

describe.each(PLATFORMS)('What runs between the cache and the handler, on %s', (platform) => {
  const { serve } = host(platform);

  it('a pipe that refuses: its 400 is never stored, and costs no handler run', async () => {
    let runs = 0;
    @Controller('products')
    @CachedRoute()
    class Products {
      @Get(':id')
      find(@Param('id', ParseIntPipe) id: number) {
        runs += 1;
        return { id, type: typeof id };
      }
    }
    const site = await serve({ controllers: [Products], providers: [EVERYWHERE] });
    for (let i = 0; i < 2; i++) {
      const { status, text } = await site.get('/products/x');
      expect([status, text]).toEqual([400, expect.stringContaining('numeric string is expected')]);
    }
    expect([runs, site.stored]).toEqual([0, 0]);
    for (let i = 0; i < 2; i++) expect((await site.get('/products/7')).text).toBe('{"id":7,"type":"number"}');
    expect([runs, site.stored]).toEqual([1, 1]);
  });

  it('the ClassSerializerInterceptor: an excluded property leaves neither on a miss nor on a hit', async () => {
    let runs = 0;
    @Controller('users')
    @UseInterceptors(StampedeCacheInterceptor, Serializer)
    class Users {
      @Get('one')
      @CachedRoute()
      one() {
        runs += 1;
        return new User();
      }
      @Get('all')
      @CachedRoute()
      all() {
        runs += 1;
        return [new User()];
      }
    }
    const site = await serve({ controllers: [Users] });
    const answers = [
      await site.get('/users/one'),
      await site.get('/users/one'),
      await site.get('/users/all'),
      await site.get('/users/all'),
    ];
    expect(answers.map(({ text }) => text)).toEqual([
      '{"name":"ann"}',
      '{"name":"ann"}',
      '[{"name":"ann"}]',
      '[{"name":"ann"}]',
    ]);
    expect(answers.map(isHit)).toEqual([false, true, false, true]);
    expect(runs).toBe(2);
  });

  it('not the ClassSerializerInterceptor that stands outside: an error that names the order, nothing stored', async () => {
    @Controller('users')
    @UseInterceptors(Serializer, StampedeCacheInterceptor)
    class Users {
      @Get('one')
      @CachedRoute()
      one() {
        return new User();
      }
    }
    const site = await serve({ controllers: [Users] });
    for (let i = 0; i < 2; i++) {
      const { status, text } = await site.get('/users/one');
      expect(status).toBe(500);
      expect(text).not.toMatch(/secret|ann/);
    }
    expect(site.errors).toHaveLength(2);
    expect(site.errors[0]?.name).toBe('UncacheableValueError');
    expect(site.errors[0]?.message).toMatch(/Users\.one\b/);
    expect(site.errors[0]?.message).toMatch(/interceptor/i);
    expect(site.errors[0]?.message).toMatch(/ClassSerializerInterceptor/);
    expect(site.stored).toBe(0);
  });

  it('delivers it all the same with onUncacheable: bypass, excluded properties left out', async () => {
    @Controller('users')
    @UseInterceptors(Serializer, StampedeCacheInterceptor)
    class Users {
      @Get('one')
      @CachedRoute({ onUncacheable: 'bypass' })
      one() {
        return new User();
      }
    }
    const site = await serve({ controllers: [Users] });
    for (let i = 0; i < 2; i++) expect((await site.get('/users/one')).text).toBe('{"name":"ann"}');
    expect(site.stored).toBe(0);
  });
});
