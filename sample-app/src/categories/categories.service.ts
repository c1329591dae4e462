import { Injectable } from '@nestjs/common';
import { CacheEvict } from 'nestjs-stampede-cache';
import { Database } from '../database/database.js';
import { categoryTag, listsOf } from '../products/product.tags.js';

export interface Category {
  readonly name: string;
  /** How many there are in it. */
  readonly products: number;
}

@Injectable()
export class CategoriesService {
  constructor(private readonly database: Database) {}

  async findAll(): Promise<Category[]> {
    return this.database.query<Category>(
      'SELECT category AS name, count(*)::integer AS products FROM products GROUP BY category ORDER BY category',
    );
  }

  /**
   * Hundreds of entries show the old name. Nobody has to know them: at the cost of three tags none is served any more. Returns
   * how many products are in the category.
   */
  @CacheEvict({ tags: (_products, name, newName) => [categoryTag(name), ...listsOf(newName)] })
  async rename(name: string, newName: string): Promise<number> {
    const products = await this.database.query<{ id: number }>(
      'UPDATE products SET category = $2 WHERE category = $1 RETURNING id',
      [name, newName],
    );
    return products.length;
  }
}
