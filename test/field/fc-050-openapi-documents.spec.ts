import {
  BadRequestException,
  Controller,
  Get,
  Param,
  ParseIntPipe,
  Query,
  type PipeTransform,
  type Type,
} from '@nestjs/common';
import {
  ApiOperation,
  ApiProperty,
  ApiQuery,
  ApiResponse,
  DocumentBuilder,
  SwaggerModule,
} from '@nestjs/swagger';
import { Cached, CachedRoute } from 'nestjs-stampede-cache';
import { field } from './support/field.js';
import { create, EVERYWHERE, PLATFORMS, serve, type Platform } from './support/http.js';

const here = field();

class ReportQuery {
  @ApiProperty({ minimum: 2000 })
  year!: number;
  @ApiProperty({ required: false, enum: ['asc', 'desc'] })
  order?: string;
}

class Report {
  @ApiProperty()
  year!: number;
}

class ReportQueryPipe implements PipeTransform<Record<string, unknown>, ReportQuery> {
  transform(query: Record<string, unknown>): ReportQuery {
    const year = Number(query['year']);
    if (!Number.isInteger(year)) throw new BadRequestException('year');
    return Object.assign(new ReportQuery(), { year });
  }
}

const Documented = (): MethodDecorator => {
  const all = [
    ApiOperation({ summary: 'A report', tags: ['reports'] }),
    ApiResponse({ status: 200, type: Report }),
    ApiResponse({ status: 400, description: 'no such year' }),
    ApiQuery({ name: 'order', required: false }),
  ];
  return (...target) => all.forEach((decorate) => void decorate(...target));
};

/** The same controller with decorators of the test's choice at both ends. */
function controllerWith(above: MethodDecorator, below: MethodDecorator, onClass: ClassDecorator): Type {
  @Controller('reports')
  class Reports {
    @above
    @Get('report')
    @Documented()
    @below
    async report(@Query(ReportQueryPipe) query: ReportQuery): Promise<Report> {
      return { year: query.year };
    }

    @above
    @Get(':id/lines')
    @below
    async lines(@Param('id', ParseIntPipe) id: number): Promise<Report[]> {
      return [{ year: id }];
    }
  }
  onClass(Reports);
  return Reports;
}

const nothing = (): void => undefined;
// As `applyDecorators` takes it: a method decorator for any method.
const cached = (): MethodDecorator => Cached() as MethodDecorator;
const route = (): MethodDecorator => CachedRoute() as MethodDecorator;

const VARIANTS: [string, () => Type][] = [
  ['@Cached above', () => controllerWith(cached(), nothing, nothing)],
  ['@Cached below', () => controllerWith(nothing, cached(), nothing)],
  ['@CachedRoute above', () => controllerWith(route(), nothing, nothing)],
  ['@CachedRoute below', () => controllerWith(nothing, route(), nothing)],
  ['@CachedRoute on the class', () => controllerWith(nothing, nothing, CachedRoute() as ClassDecorator)],
];

async function documentOf(platform: Platform, controller: Type): Promise<unknown> {
  const metadata = here.withCache({ controllers: [controller], providers: [EVERYWHERE] });
  const app = await create(here, platform, metadata);
  await app.init();
  here.atEnd(() => app.close());
  const config = new DocumentBuilder().setTitle('Reports').build();
  return JSON.parse(JSON.stringify(SwaggerModule.createDocument(app, config))) as unknown;
}

describe.each(PLATFORMS)('FC-050, on %s: the OpenAPI document of a controller with', (platform) => {
  it.each(VARIANTS)('%s is that of the plain one', async (_what, make) => {
    const plain = await documentOf(platform, controllerWith(nothing, nothing, nothing));
    expect(JSON.stringify(plain)).toMatch(/no such year.*A report/);
    expect(await documentOf(platform, make())).toEqual(plain);
  });

  it.each(VARIANTS)(
    '%s: its routes answer, and pipes refuse before any look into the cache',
    async (_what, make) => {
      const { url } = await serve(here, platform, { controllers: [make()], providers: [EVERYWHERE] });
      for (let i = 0; i < 2; i++) {
        const response = await fetch(`${url}/reports/report?year=2024`);
        expect([response.status, await response.json()]).toEqual([200, { year: 2024 }]);
      }
      const stored = await here.entries();
      expect(stored).toHaveLength(1);
      expect((await fetch(`${url}/reports/report?year=soon`)).status).toBe(400);
      expect((await fetch(`${url}/reports/x/lines`)).status).toBe(400);
      expect(await here.entries()).toEqual(stored);
    },
  );
});
