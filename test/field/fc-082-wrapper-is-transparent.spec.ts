import { Body, Controller, HttpCode, Injectable, Param, Post, Query } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import supertest from 'supertest';
import { field } from './support/field.js';
import { metadataOf, methodOf } from './support/metadata.js';

const here = field();
const SYMBOL = Symbol('find');

/** As libraries do it: the method is replaced by one that opens a transaction around it. */
function Transactional(): MethodDecorator {
  return (_target, _method, descriptor: PropertyDescriptor) => {
    const inner = descriptor.value as (this: unknown, ...args: unknown[]) => Promise<unknown>;
    descriptor.value = async function (this: Orders, ...args: unknown[]): Promise<unknown> {
      this.transactions += 1;
      return inner.apply(this, args);
    };
  };
}

/** As @OnEvent and @Cron do it: metadata on the function, found by whoever scans the instances. */
function OnEvent(event: string): MethodDecorator {
  return (_target, _method, descriptor: PropertyDescriptor) => {
    Reflect.defineMetadata('event', event, descriptor.value as object);
  };
}

@Injectable()
class Orders {
  transactions = 0;
  #factor = 2;

  @Cached()
  @Transactional()
  async outside(id: number): Promise<number> {
    return id;
  }

  @Transactional()
  @Cached()
  async inside(id: number): Promise<number> {
    return id;
  }

  @OnEvent('above')
  @Cached()
  async eventAbove(id: number): Promise<number> {
    return id * this.#factor;
  }

  @Cached()
  @OnEvent('below')
  async eventBelow(id: number): Promise<number> {
    return id * this.#factor;
  }

  @Cached()
  async three(a: number, b: number, c: number): Promise<number> {
    return a + b + c;
  }

  @Cached()
  async withDefault(a: number, b = 1): Promise<number> {
    return a + b;
  }

  @Cached()
  async [SYMBOL](id: number): Promise<number> {
    return id * this.#factor;
  }
}

@Controller()
class OrdersController {
  @Cached()
  @Post('orders/:id')
  @HttpCode(200)
  async inputs(@Param('id') id: string, @Query('page') page: string, @Body('name') name: string) {
    return { id, page, name };
  }
}

const { prototype } = Orders;
/** The decorator past its types, as JavaScript can apply it. */
const apply = (target: unknown, name: string, descriptor: PropertyDescriptor): void => {
  const decorate = Cached() as (target: unknown, name: string, descriptor: PropertyDescriptor) => void;
  decorate(target, name, descriptor);
};

describe('FC-082: a method with @Cached', () => {
  it('has the name, the length and the own properties of the method', () => {
    expect([prototype.three.name, prototype.three.length]).toEqual(['three', 3]);
    expect([prototype.withDefault.name, prototype.withDefault.length]).toEqual(['withDefault', 1]);
    expect([prototype[SYMBOL].name, prototype[SYMBOL].length]).toEqual(['[find]', 1]);
    const method = Object.assign(async () => 1, { own: 'property', [SYMBOL]: 2 });
    const descriptor: PropertyDescriptor = { value: method, writable: true, configurable: true };
    apply(class Fresh {}.prototype, 'm', descriptor);
    expect(Reflect.ownKeys(descriptor.value as object)).toEqual(Reflect.ownKeys(method));
    expect({ ...(descriptor.value as object) }).toEqual({ own: 'property', [SYMBOL]: 2 });
    expect(descriptor).toMatchObject({ writable: true, configurable: true });
  });

  it('is found by scanners of metadata, with their decorator above and below', () => {
    expect(metadataOf(methodOf(Orders, 'eventAbove'))['event']).toBe('above');
    expect(metadataOf(methodOf(Orders, 'eventBelow'))['event']).toBe('below');
  });

  it('works by a symbol as its name, on private fields and through inheritance', async () => {
    @Injectable()
    class MoreOrders extends Orders {}
    const app = await here.app({ providers: [Orders, MoreOrders] });
    for (const type of [Orders, MoreOrders]) {
      for (const _ of ['miss', 'hit']) expect(await app.get(type)[SYMBOL](2)).toBe(4);
    }
    expect(app.cache.stats().loads.started).toBe(2);
  });

  it('opens no transaction on a hit where @Cached is the outer one, and one where it is the inner one', async () => {
    const app = await here.app({ providers: [Orders] });
    const orders = app.get(Orders);
    for (const _ of ['miss', 'hit', 'hit']) await orders.outside(1);
    expect(orders.transactions).toBe(1);
    for (const _ of ['miss', 'hit', 'hit']) await orders.inside(1);
    expect(orders.transactions).toBe(4);
    expect(app.cache.stats().loads.started).toBe(2);
  });

  it('leaves @Param, @Query and @Body in effect', async () => {
    const app = await here.http({ controllers: [OrdersController] });
    for (const _ of ['miss', 'hit']) {
      const response = await supertest(app.nest.getHttpServer() as never)
        .post('/orders/5?page=2')
        .send({ name: 'n' });
      expect(response.body).toEqual({ id: '5', page: '2', name: 'n' });
    }
    expect(app.cache.stats().outcomes).toMatchObject({ loaded: 1, fresh: 1 });
  });
});

describe('FC-082: @Cached on anything but an instance method throws where it stands', () => {
  it.each<[string, () => void, RegExp]>([
    [
      'a getter',
      () => apply(class Shop {}.prototype, 'total', { get: () => 1, configurable: true }),
      /Shop\.total is a getter/,
    ],
    [
      'a property that is no function',
      () => apply(class Shop {}.prototype, 'total', { value: 5 }),
      /Shop\.total is not a method/,
    ],
    [
      'a field',
      () => apply(class Shop {}.prototype, 'total', undefined as never),
      /Shop\.total is not a method/,
    ],
    ['a static method', () => apply(class Shop {}, 'find', { value: () => 1 }), /Shop\.find is static/],
  ])('%s', (_, decorate, message) => {
    expect(decorate).toThrow(message);
  });
});
