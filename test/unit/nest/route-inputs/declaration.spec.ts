import {
  Body,
  Controller,
  createParamDecorator,
  Get,
  Headers,
  Next,
  Param,
  ParseIntPipe,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import 'reflect-metadata';
import { readDeclaration } from '../../../../lib/nest/route/inputs/index.js';

const Tenant = createParamDecorator((data: unknown) => data);

const kindsOf = (host: object, method: string) =>
  readDeclaration(host, method).inputs.map(({ index, kind, name }) => [index, kind, name]);

describe('The declaration of a handler', () => {
  @Controller()
  class Products {
    @Get()
    find(
      @Param('id', ParseIntPipe) id: number,
      @Query() query: object,
      @Headers('X-Region') region: string,
      @Body('filter') filter: string,
      @Tenant('eu') tenant: string,
      @Req() request: object,
    ) {
      return [id, query, region, filter, tenant, request];
    }
    @Get('plain')
    plain(undeclared?: string) {
      return undeclared;
    }
    @Get('skips')
    skips(_first: string, @Query(ParseIntPipe) _second: object, @Query('') third?: string) {
      return third;
    }
    @Get('itself')
    itself(@Res() _response: unknown) {}
    @Get('next')
    next(@Next() _next: unknown) {}
    @Get('passthrough')
    passthrough(@Res({ passthrough: true }) _response: unknown) {}
  }
  class Heir extends Products {}
  class Changed extends Products {
    override find(@Param('slug') slug: never) {
      return [slug] as never;
    }
  }

  it('names each parameter with its kind, its name and its position', () => {
    expect(kindsOf(Products, 'find')).toEqual([
      [0, 'param', 'id'],
      [1, 'query', undefined],
      [2, 'headers', 'X-Region'],
      [3, 'body', 'filter'],
      [4, 'custom', undefined],
      [5, 'req', undefined],
    ]);
    expect(readDeclaration(Products, 'find').inputs[4]).toMatchObject({ data: 'eu' });
  });

  it('is the same from the class and from its prototype', () => {
    expect(readDeclaration(Products.prototype, 'find')).toEqual(readDeclaration(Products, 'find'));
  });

  it('is empty for a method without decorated parameters, and for none', () => {
    expect(kindsOf(Products, 'plain')).toEqual([]);
    expect(kindsOf(Products, 'missing')).toEqual([]);
    expect(readDeclaration(Products, 'plain').isKnown).toBe(true);
  });

  it('takes a pipe for no name, and an empty name for none', () => {
    expect(kindsOf(Products, 'skips')).toEqual([
      [1, 'query', undefined],
      [2, 'query', undefined],
    ]);
  });

  it('is inherited, and replaced by what overrides it', () => {
    expect(kindsOf(Heir, 'find')).toHaveLength(6);
    expect(kindsOf(Heir.prototype, 'find')).toHaveLength(6);
    expect(kindsOf(Changed, 'find')).toContainEqual([0, 'param', 'slug']);
  });

  it('is found on the class that a mixin copied the method from, constructor and all', () => {
    class Mixed {
      own(@Query('own') own: string) {
        return own;
      }
    }
    for (const name of Object.getOwnPropertyNames(Products.prototype)) {
      const descriptor = Object.getOwnPropertyDescriptor(Products.prototype, name);
      if (descriptor) Object.defineProperty(Mixed.prototype, name, descriptor);
    }
    expect(kindsOf(Mixed, 'find')).toHaveLength(6);
    expect(kindsOf(Mixed.prototype, 'find')).toHaveLength(6);
    // What the class declares beside it is kept on the class, which a prototype can't tell.
    expect(kindsOf(Mixed, 'own')).toEqual([[0, 'query', 'own']]);
    expect(readDeclaration(Mixed.prototype, 'own')).toMatchObject({ isKnown: false, inputs: [] });
  });

  it('tells a handler that answers by itself from one that lets Nest answer', () => {
    expect(readDeclaration(Products, 'itself').answersItself).toBe(true);
    expect(readDeclaration(Products, 'next').answersItself).toBe(true);
    expect(readDeclaration(Products, 'passthrough').answersItself).toBe(false);
    expect(readDeclaration(Products, 'find').answersItself).toBe(false);
  });
});
