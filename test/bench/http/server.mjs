/**
 * One application of the HTTP benchmark, in a process of its own, on the package as it is built. Its parent gives the
 * adapter and Redis in the environment, gets the port, and may ask how many handlers have run and how
 * long it has computed.
 */
import 'reflect-metadata';
import { CacheInterceptor, CacheModule } from '@nestjs/cache-manager';
import { Controller, Get, Module, Param, Res, UseInterceptors } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { createKeyv } from '@keyv/redis';
import { of } from 'rxjs';
import { importOurs, Redis } from '../root.mjs';
import { bodyOf, BUSY, rawKey, SIZES } from './bodies.mjs';

const { CachedRoute, StampedeCacheInterceptor, StampedeCacheModule } = await importOurs();

const { ADAPTER: adapter, REDIS_URL: redis } = process.env;
const TTL = 3_600_000;
const client = new Redis(redis);
const constants = new Map(SIZES.map((size) => [String(size), bodyOf(size, 'constant')]));
const texts = new Map([...constants].map(([size, body]) => [size, JSON.stringify(body)]));
let runs = 0;

class Plain {
  constant(size) {
    return constants.get(size);
  }
  async raw(size, id, response) {
    const bytes = await client.getBuffer(rawKey(size, id));
    response.header('content-type', 'application/json; charset=utf-8');
    response.send(bytes);
  }
}

class Ours {
  hot(size) {
    runs += 1;
    return constants.get(size);
  }
  stored(size) {
    runs += 1;
    return constants.get(size);
  }
  one(size, id) {
    runs += 1;
    return bodyOf(Number(size), id);
  }
}

class Official {
  hot(size) {
    runs += 1;
    return constants.get(size);
  }
  one(size, id) {
    runs += 1;
    return bodyOf(Number(size), id);
  }
}

/** What any interceptor costs that answers by itself, with as many headers as ours: the least that a hit can take. */
class Bare {
  intercept(context) {
    const { size, id } = context.getArgByIndex(0).params;
    const response = context.getArgByIndex(1);
    if (id === undefined) return of(this.answer(response, texts.get(size)));
    return client.getBuffer(rawKey(size, id)).then((bytes) => of(this.answer(response, bytes.toString())));
  }
  answer(response, text) {
    response.header('cache-control', 'private, no-cache');
    response.header('age', '1');
    response.header('cache-status', 'stampede-cache; hit; ttl=3554');
    response.header('etag', 'W/"o0ybLn8bEyU--Htue-oqGJ"');
    response.header('content-type', 'application/json; charset=utf-8');
    return text;
  }
}

/** An interceptor that only answers, what the constant handler does: what being intercepted costs. */
class Empty {
  intercept(context) {
    return of(constants.get(context.getArgByIndex(0).params.size));
  }
}

/** The bare interceptor with so much to compute besides, in µs: how requests/s answer to that. */
class Busy extends Bare {
  intercept(context) {
    const end = performance.now() + BUSY / 1_000;
    while (performance.now() < end);
    return super.intercept(context);
  }
}

class Intercepted {
  hot() {}
  one() {}
}

class Emptied {
  hot() {}
}

class Busied {
  hot() {}
}

// What `@Controller() class … { @Get() …(@Param() …) }` compiles to.
function route(type, method, path, ...params) {
  const descriptor = Object.getOwnPropertyDescriptor(type.prototype, method);
  Get(path)(type.prototype, method, descriptor);
  params.forEach((param, index) => param(type.prototype, method, index));
}
route(Plain, 'constant', 'constant/:size', Param('size'));
route(Plain, 'raw', 'raw/:size/:id', Param('size'), Param('id'), Res());
route(Ours, 'stored', 'stored/:size', Param('size'));
for (const type of [Ours, Official, Intercepted]) {
  route(type, 'hot', ':size', Param('size'));
  route(type, 'one', ':size/:id', Param('size'), Param('id'));
}
for (const type of [Emptied, Busied]) route(type, 'hot', ':size', Param('size'));
Controller('plain')(Plain);
Controller('ours')(Ours);
CachedRoute({ ttl: TTL })(Ours);
// Without copies in the process: each hit is read from Redis.
for (const name of ['stored', 'one'])
  CachedRoute({ ttl: TTL, l1: false })(
    Ours.prototype,
    name,
    Object.getOwnPropertyDescriptor(Ours.prototype, name),
  );
UseInterceptors(StampedeCacheInterceptor)(Ours);
Controller('bare')(Intercepted);
UseInterceptors(new Bare())(Intercepted);
Controller('empty')(Emptied);
UseInterceptors(new Empty())(Emptied);
Controller('busy')(Busied);
UseInterceptors(new Busy())(Busied);
Controller('official')(Official);
UseInterceptors(CacheInterceptor)(Official);

class Site {}
Module({
  imports: [
    StampedeCacheModule.forRoot({ redis, namespace: `bench-${adapter}`, redisTimeout: '5s', l1: {} }),
    // A module of its own instance for each adapter: both keep their entries under the same keys.
    CacheModule.register({ isGlobal: true, ttl: TTL, stores: [createKeyv(redis, { namespace: adapter })] }),
  ],
  controllers: [Plain, Emptied, Busied, Intercepted, Ours, Official],
})(Site);

const app =
  adapter === 'fastify'
    ? await NestFactory.create(Site, new FastifyAdapter(), { logger: ['error', 'warn'] })
    : await NestFactory.create(Site, { logger: ['error', 'warn'] });
await app.listen(0, '127.0.0.1');
process.on('message', () => process.send({ runs, cpu: process.cpuUsage() }));
process.send({ url: await app.getUrl() });
