import { BadRequestException, Injectable, type PipeTransform } from '@nestjs/common';
import type { NewPrice, NewProduct, ProductChanges, ProductQuery } from './product.js';

const MAX_ID = 2 ** 31 - 1; // the column is an integer
const MAX_PRICE = 100_000_000;
const MAX_PAGE = 10_000;
const MAX_PRICES = 100; // at once

type Fields = Readonly<Record<string, unknown>>;

@Injectable()
export class ProductIdPipe implements PipeTransform<string, number> {
  transform(value: string): number {
    return wholeNumber(value, 'id', 1, MAX_ID);
  }
}

@Injectable()
export class ProductQueryPipe implements PipeTransform<Fields, ProductQuery> {
  transform(query: Fields): ProductQuery {
    onlyKnown(query, ['category', 'page']);
    const page = wholeNumber(query['page'] ?? '1', 'page', 1, MAX_PAGE);
    return query['category'] === undefined ? { page } : { category: text(query, 'category'), page };
  }
}

@Injectable()
export class NewProductPipe implements PipeTransform<unknown, NewProduct> {
  transform(body: unknown): NewProduct {
    const fields = object(body);
    onlyKnown(fields, ['name', 'category', 'price']);
    return { name: text(fields, 'name'), category: text(fields, 'category'), price: price(fields) };
  }
}

@Injectable()
export class ProductChangesPipe implements PipeTransform<unknown, ProductChanges> {
  transform(body: unknown): ProductChanges {
    const fields = object(body);
    onlyKnown(fields, ['name', 'category', 'price']);
    if (Object.keys(fields).length === 0)
      throw new BadRequestException('Nothing to change: give name, category or price');
    return {
      ...('name' in fields && { name: text(fields, 'name') }),
      ...('category' in fields && { category: text(fields, 'category') }),
      ...('price' in fields && { price: price(fields) }),
    };
  }
}

@Injectable()
export class NewPricesPipe implements PipeTransform<unknown, NewPrice[]> {
  transform(body: unknown): NewPrice[] {
    if (!Array.isArray(body) || body.length === 0 || body.length > MAX_PRICES) {
      throw new BadRequestException(
        `The body must be a JSON array of 1 to ${MAX_PRICES} objects with id and price`,
      );
    }
    return body.map((item: unknown) => {
      const fields = object(item, 'id and price');
      onlyKnown(fields, ['id', 'price']);
      return { id: wholeNumber(String(fields['id']), 'id', 1, MAX_ID), price: price(fields) };
    });
  }
}

@Injectable()
export class CategoryNamePipe implements PipeTransform<unknown, string> {
  transform(body: unknown): string {
    const fields = object(body, 'name');
    onlyKnown(fields, ['name']);
    return text(fields, 'name');
  }
}

function object(body: unknown, content = 'name, category and price'): Fields {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new BadRequestException(`The body must be a JSON object with ${content}`);
  }
  return { ...body };
}

function onlyKnown(fields: Fields, known: readonly string[]): void {
  const unknown = Object.keys(fields).find((field) => !known.includes(field));
  if (unknown !== undefined)
    throw new BadRequestException(`Unknown field ${unknown}; known are ${known.join(', ')}`);
}

function text(fields: Fields, field: string): string {
  const value = fields[field];
  if (typeof value !== 'string' || value.trim() === '' || value.length > 100) {
    throw new BadRequestException(`${field} must be a text of 1 to 100 characters`);
  }
  return value.trim();
}

function price(fields: Fields): number {
  const value = fields['price'];
  if (!Number.isInteger(value) || Number(value) < 0 || Number(value) > MAX_PRICE) {
    throw new BadRequestException(`price must be a whole number of cents, 0 to ${MAX_PRICE}`);
  }
  return Number(value);
}

/** From a path or a query string. */
function wholeNumber(value: unknown, name: string, min: number, max: number): number {
  const number = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : NaN;
  if (!(number >= min && number <= max)) {
    throw new BadRequestException(`${name} must be a whole number from ${min} to ${max}`);
  }
  return number;
}
