import {
  Body,
  createParamDecorator,
  Headers,
  Ip,
  Param,
  Query,
  RawBody,
  Req,
  Session,
  UploadedFile,
  type Type,
} from '@nestjs/common';
import 'reflect-metadata';
import type { HttpInputs } from '../../../../lib/nest/interfaces/http-options.interface.js';
import { ConfigurationError } from '../../../../lib/core/errors.js';
import { resolve } from './kit.js';

/** A controller whose `find` takes the decorated parameters. */
function taking(...decorators: ParameterDecorator[]): Type {
  class Products {
    find(): void {}
  }
  decorators.forEach((decorate, index) => decorate(Products.prototype, 'find', index));
  return Products;
}

const failure = (run: () => unknown): Error => {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error('expected a ConfigurationError');
};

describe('Inputs that need a word of the author', () => {
  const cases: [string, ParameterDecorator, HttpInputs | undefined][] = [
    ['@Req()', Req(), {}],
    ['@Headers()', Headers(), { headers: ['x-region'] }],
    ['@Body()', Body(), { body: ['filter'] }],
    ['@RawBody()', RawBody(), { body: ['filter'] }],
    ['@Session()', Session(), { session: ['userId'] }],
    ['@Ip()', Ip(), { ip: true }],
    ['@UploadedFile()', UploadedFile(), undefined],
  ];

  it.each(cases)('%s is refused without one, by method, parameter and fix', (name, decorator) => {
    const { message } = failure(() => resolve(taking(Query('page'), decorator)));
    expect(message).toContain(`Products.find: parameter 2, ${name}, can't be part of a key`);
    expect(message).toContain('http.key: (context) =>');
  });

  it.each(cases)('%s is taken with http.key', (_, decorator) => {
    expect(resolve(taking(decorator), { key: () => 1 }).reading({}).parts).toEqual([1]);
  });

  const answered = cases.flatMap(([name, decorator, inputs]) =>
    inputs === undefined ? [] : [{ name, decorator, inputs }],
  );
  it.each(answered)('$name is taken with the inputs that speak of it', ({ decorator, inputs }) => {
    expect(() => resolve(taking(decorator), { inputs })).not.toThrow();
  });

  it.each(cases.slice(1))('%s is not taken with inputs that do not speak of it', (name, decorator) => {
    const { message } = failure(() => resolve(taking(decorator), { inputs: { query: ['page'] } }));
    expect(message).toContain(name);
  });

  it('a request-scoped controller is one, and inputs or a key are the word', () => {
    const scoped = { isRequestScoped: true };
    const { message } = failure(() => resolve(taking(Param('id')), {}, scoped));
    expect(message).toContain('Products.find: the controller is request-scoped');
    expect(message).toContain('http.inputs');
    expect(() => resolve(taking(Param('id')), { inputs: {} }, scoped)).not.toThrow();
    expect(() => resolve(taking(Param('id')), { key: () => 1 }, scoped)).not.toThrow();
  });

  it('so are parameters that can not be found', () => {
    const Products = taking(Param('id'));
    class Foreign {
      find(): void {}
    }
    Object.defineProperty(Products.prototype, 'constructor', { value: Foreign });
    expect(failure(() => resolve(Products)).message).toContain('not found on its class');
    expect(() => resolve(Products, {}, { host: Products })).not.toThrow();
  });

  it('and a kind of parameter of a later Nest', () => {
    const Products = taking();
    Reflect.defineMetadata('__routeArguments__', { '99:0': { index: 0 } }, Products, 'find');
    expect(failure(() => resolve(Products)).message).toContain('parameter 1, a decorator that is not known');
  });
});

describe('A whole @Query()', () => {
  it('warns once, naming http.inputs', () => {
    const { warnings } = resolve(taking(Query(), Query('page')));
    expect(warnings).toEqual([expect.stringContaining('Products.find: parameter 1, @Query()')]);
    expect(warnings[0]).toContain("http.inputs: { query: ['page'] }");
  });

  it('is silent with inputs.query, with http.key, and by name', () => {
    expect(resolve(taking(Query()), { inputs: { query: [] } }).warnings).toEqual([]);
    expect(resolve(taking(Query()), { key: () => 1 }).warnings).toEqual([]);
    expect(resolve(taking(Query('page'))).warnings).toEqual([]);
  });
});

describe('http.inputs and http.key', () => {
  it.each([
    ['a list', [], 'received []'],
    ['a text', 'page', "received 'page'"],
    ['null', null, 'received null'],
    ['an unknown kind', { querys: ['page'] }, "no 'querys', received { querys: [ 'page' ] }. Known: params"],
    [
      'a text for a list',
      { query: 'page' },
      "http.inputs.query is a list of names that are not empty, received 'page'",
    ],
    ['a list with another thing', { headers: ['a', 1] }, "received [ 'a', 1 ]"],
    [
      'an empty name',
      { body: [''] },
      "http.inputs.body is a list of names that are not empty, received [ '' ]",
    ],
    ['a flag of another type', { ip: 'yes' }, "http.inputs.ip is true or false, received 'yes'"],
  ])('refuse %s', (_, inputs, expected) => {
    const { message } = failure(() => resolve(taking(), { inputs: inputs as never }));
    expect(message).toContain('Products.find: http.inputs');
    expect(message).toContain(expected);
  });

  it('refuse a key that is no function', () => {
    const { message } = failure(() => resolve(taking(), { key: 'page' as never }));
    expect(message).toBe("Products.find: http.key is a function of the ExecutionContext, received 'page'.");
  });

  it('take what is undefined for what is left out', () => {
    expect(failure(() => resolve(taking(Ip()), { inputs: { ip: undefined } as never })).message).toContain(
      '@Ip()',
    );
  });
});

describe('The plan', () => {
  it('names the headers for Vary once, in their usual spelling', () => {
    const Products = taking(Headers('accept-LANGUAGE'), Headers('Accept-Language'), Query('page'));
    expect(resolve(Products).plan.vary).toEqual(['Accept-Language']);
    const inputs = { headers: ['x-region'], cookies: ['theme', 'size'], session: ['cart'] };
    expect(resolve(Products, { inputs }).plan.vary).toEqual(['Accept-Language', 'X-Region', 'Cookie']);
    expect(resolve(taking(Query('page'))).plan.vary).toEqual([]);
  });

  it('keeps Vary beside http.key, since the handler may read the header', () => {
    expect(resolve(taking(Headers('x-region')), { key: () => 1 }).plan.vary).toEqual(['X-Region']);
  });

  it('names the custom decorators', () => {
    const Tenant = createParamDecorator(() => 'a');
    expect(resolve(taking(Query('a'), Tenant())).plan.hasCustom).toEqual(['parameter 2, a custom decorator']);
  });
});
