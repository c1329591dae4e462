import { Injectable, NotFoundException, UnprocessableEntityException } from '@nestjs/common';
import { Cached, CacheEvict, CachePut, notFound } from 'nestjs-stampede-cache';
import { Database } from '../database/database.js';
import { UnitOfWork } from '../database/unit-of-work.js';
import type { NewPrice, NewProduct, Product, ProductChanges, ProductQuery } from './product.js';
import { categoryTag, listsOf, listTag, WHOLE_LIST } from './product.tags.js';

const PAGE_SIZE = 20;

@Injectable()
export class ProductsService {
  constructor(
    private readonly database: Database,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * "Not found" is an answer worth keeping too: otherwise each request for a missing product, and a crawler sends
   * many, would reach the database.
   *
   * Which category it is in shows only when it is there: hence a value tag.
   */
  @Cached({
    ttl: '5m',
    negativeTtl: '30s',
    negativeErrors: notFound,
    valueTags: ({ category }) => [categoryTag(category)],
  })
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
   * page that a changed product is on. Its tag can.
   */
  @Cached({
    ttl: '5m',
    tags: ({ category }) =>
      category === undefined ? [WHOLE_LIST] : [listTag(category), categoryTag(category)],
  })
  async findAll({ category, page }: ProductQuery): Promise<Product[]> {
    return this.database.query<Product>(
      `SELECT id, name, category, price FROM products
       WHERE $1::text IS NULL OR category = $1
       ORDER BY id LIMIT $2 OFFSET $3`,
      [category ?? null, PAGE_SIZE, (page - 1) * PAGE_SIZE],
    );
  }

  /** Somebody may have asked for its id before: what is put takes the place of "not found". */
  @CachePut({ of: 'findOne', args: ({ id }) => [id] })
  @CacheEvict({ tags: ({ category }) => listsOf(category) })
  async create({ name, category, price }: NewProduct): Promise<Product> {
    const [product] = await this.database.query<Product>(
      'INSERT INTO products (name, category, price) VALUES ($1, $2, $3) RETURNING id, name, category, price',
      [name, category, price],
    );
    if (!product) throw new Error('INSERT returned no row');
    return product;
  }

  async update(id: number, changes: ProductChanges): Promise<Product> {
    const { former: _, ...product } = await this.change(id, changes);
    return product;
  }

  /** All of them or none. A price that more than doubles is taken for a typing error. */
  async changePrices(prices: readonly NewPrice[]): Promise<Product[]> {
    return this.unitOfWork.run(async () => {
      const changed: Product[] = [];
      // Two changes that lock the same rows in the same order never wait for each other in a circle.
      for (const { id, price } of [...prices].sort((a, b) => a.id - b.id)) {
        const { price: before } = await this.findOne(id); // the row as this transaction sees it: past the cache
        if (price > 2 * before) {
          throw new UnprocessableEntityException(
            `The price of product ${id} would rise from ${before} to ${price}`,
          );
        }
        changed.push(await this.update(id, { price }));
      }
      return changed;
    });
  }

  /**
   * Its entry goes after the change: a single statement has committed when its result is here, and in a unit of work the eviction
   * waits for the commit. A load of the old row that is running now can't bring it back: its result is not stored.
   */
  @CacheEvict({
    of: 'findOne',
    args: (_row, id) => [id],
    tags: ({ category, former }) => listsOf(former, category),
  })
  private async change(
    id: number,
    { name, category, price }: ProductChanges,
  ): Promise<Product & { readonly former: string }> {
    const [row] = await this.database.query<Product & { former: string }>(
      `WITH before AS (SELECT id, category FROM products WHERE id = $1 FOR UPDATE)
       UPDATE products SET
         name = coalesce($2, products.name),
         category = coalesce($3, products.category),
         price = coalesce($4, products.price)
       FROM before WHERE products.id = before.id
       RETURNING products.id, products.name, products.category, products.price, before.category AS former`,
      [id, name ?? null, category ?? null, price ?? null],
    );
    if (!row) throw new NotFoundException(`There is no product ${id}`);
    return row;
  }
}
