import {
  BadRequestException,
  Controller,
  Get,
  Header,
  HttpCode,
  Injectable,
  Query,
  type PipeTransform,
} from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import supertest from 'supertest';
import { field } from './support/field.js';
import { metadataOf, methodOf } from './support/metadata.js';

const here = field();

class ReportQuery {
  year!: number;
}

@Injectable()
class ReportQueryPipe implements PipeTransform<Record<string, unknown>, ReportQuery> {
  transform(query: Record<string, unknown>): ReportQuery {
    const year = Number(query['year']);
    if (!Number.isInteger(year)) throw new BadRequestException('year');
    return Object.assign(new ReportQuery(), { year });
  }
}

/** Writes what the decorators of an API documentation write: metadata onto the function itself. */
const ApiResponse = (response: object): MethodDecorator => {
  return (_target, _method, descriptor: PropertyDescriptor) => {
    Reflect.defineMetadata('swagger/apiResponse', response, descriptor.value as object);
  };
};

@Controller()
class Bare {
  @Get('report')
  @HttpCode(203)
  @Header('x-a', 'b')
  @ApiResponse({ 203: { description: 'a report' } })
  async report(@Query(ReportQueryPipe) query: ReportQuery): Promise<{ year: number }> {
    return { year: query.year };
  }
}

@Controller()
class Above {
  @Cached()
  @Get('report')
  @HttpCode(203)
  @Header('x-a', 'b')
  @ApiResponse({ 203: { description: 'a report' } })
  async report(@Query(ReportQueryPipe) query: ReportQuery): Promise<{ year: number }> {
    return { year: query.year };
  }
}

@Controller()
class Below {
  @Get('report')
  @HttpCode(203)
  @Header('x-a', 'b')
  @ApiResponse({ 203: { description: 'a report' } })
  @Cached()
  async report(@Query(ReportQueryPipe) query: ReportQuery): Promise<{ year: number }> {
    return { year: query.year };
  }
}

type Type = typeof Bare;

/** Everything that a router or the builder of an OpenAPI document looks at. */
const seenBy = (type: Type) => ({
  onTheMethod: metadataOf(methodOf(type, 'report')),
  onThePrototype: metadataOf(type.prototype, 'report'),
  onTheClass: metadataOf(type, 'report'),
  function: Object.getOwnPropertyDescriptors(methodOf(type, 'report')),
  methods: Object.getOwnPropertyNames(type.prototype),
});

describe.each<[string, Type]>([
  ['above the others', Above],
  ['below the others', Below],
])('FC-050: @Cached on a handler, %s', (_, controller) => {
  it('leaves all metadata of routes, parameters and API documentation as they are on a plain one', () => {
    expect(seenBy(controller)).toEqual(seenBy(Bare));
  });

  it('leaves the route, its status and headers', async () => {
    const app = await here.http({ controllers: [controller] });
    const http = supertest(app.nest.getHttpServer() as never);
    for (const outcome of ['miss', 'hit']) {
      const response = await http.get('/report?year=2024');
      expect([outcome, response.status, response.body, response.headers['x-a']]).toEqual([
        outcome,
        203,
        { year: 2024 },
        'b',
      ]);
    }
    expect(app.cache.stats().outcomes).toMatchObject({ loaded: 1, fresh: 1 });
  });

  it('comes after the pipes: bad input is answered 400 without a look into the cache', async () => {
    const app = await here.http({ controllers: [controller] });
    const http = supertest(app.nest.getHttpServer() as never);
    await http.get('/report?year=2024');
    const counts = await here.redis.countCommands(async () => {
      expect((await http.get('/report?year=soon')).status).toBe(400);
    });
    expect(counts['get'] ?? 0).toBe(0);
    expect(await here.entries()).toHaveLength(1);
  });
});
