import { Injectable, NotFoundException } from '@nestjs/common';
import { Cached, notFound, StampedeCacheService } from 'nestjs-stampede-cache';
import { Database } from '../database/database.js';
import type { NewProduct, Product, ProductChanges, ProductQuery } from './product.js';

const PAGE_SIZE = 20;

@Injectable()
export class ProductsService {
  constructor(
    private readonly database: Database,
    private readonly cache: StampedeCacheService,
  ) {}

  /**
   * "Not found" is an answer worth keeping too: otherwise each request for a missing product, and a crawler sends
   * many, would reach the database.
   */
  @Cached({ ttl: '5m', negativeTtl: '30s', negativeErrors: notFound })
  async findOne(id: number): Promise<Product> {
    const [product] = await this.database.query<Product>(
      'SELECT id, name, category, price FROM products WHERE id = $1',
      [id],
    );
    if (!product) throw new NotFoundException(`There is no product ${id}`);
    return product;
  }

  /**
   * All arguments make the key, here an object: each category and page is an entry of its own. Nobody can name every
   * page that a changed product is on, so lists are not invalidated; they may lag behind by their short ttl.
   */
  @Cached({ ttl: '10s' })
  async findAll({ category, page }: ProductQuery): Promise<Product[]> {
    return this.database.query<Product>(
      `SELECT id, name, category, price FROM products
       WHERE $1::text IS NULL OR category = $1
       ORDER BY id LIMIT $2 OFFSET $3`,
      [category ?? null, PAGE_SIZE, (page - 1) * PAGE_SIZE],
    );
  }

  async create({ name, category, price }: NewProduct): Promise<Product> {
    const [product] = await this.database.query<Product>(
      'INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price',
      [name, category, price],
    );
    if (!product) throw new Error('INSERT returned no row');
    await this.forget(product.id); // somebody may have asked for this id before: "not found" is in the cache
    return product;
  }

  async update(id: number, { name, category, price }: ProductChanges): Promise<Product> {
    const [product] = await this.database.query<Product>(
      `UPDATE products
       SET name = coalesce($2, name), category = coalesce($3, category), price = coalesce($4, price)
       WHERE id = $1 RETURNING id, name, category, price`,
      [id, name ?? null, category ?? null, price ?? null],
    );
    if (!product) throw new NotFoundException(`There is no product ${id}`);
    await this.forget(id);
    return product;
  }

  /**
   * Always after the commit (a single statement has committed when its result is here). Earlier, a reader could load
   * the old row once more, and it would stay. A load that is running now cannot do that: its result is not stored.
   */
  private async forget(id: number): Promise<void> {
    await this.cache.of(ProductsService, 'findOne').invalidate(id);
  }
}
