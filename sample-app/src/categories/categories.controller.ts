import { Body, Controller, Get, Param, Patch, UseInterceptors } from '@nestjs/common';
import { CachedRoute, StampedeCacheInterceptor } from 'nestjs-stampede-cache';
import { CategoryNamePipe } from '../products/product.pipes.js';
import { WHOLE_LIST } from '../products/product.tags.js';
import { CategoriesService, type Category } from './categories.service.js';

@Controller('categories')
@UseInterceptors(StampedeCacheInterceptor)
export class CategoriesController {
  constructor(private readonly categories: CategoriesService) {}

  /**
   * The response is cached, not only what it is made of: a hit is sent as it was stored, and who has it already gets a 304. It is
   * the same for everybody, also for visitors with a cookie. Whatever changes a list of products may change it too.
   */
  @Get()
  @CachedRoute({ ttl: '5m', tags: [WHOLE_LIST], http: { public: true } })
  async findAll(): Promise<Category[]> {
    return this.categories.findAll();
  }

  @Patch(':name')
  async rename(
    @Param('name') name: string,
    @Body(CategoryNamePipe) newName: string,
  ): Promise<{ products: number }> {
    return { products: await this.categories.rename(name, newName) };
  }
}
