import { Body, Controller, Get, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import {
  NewPricesPipe,
  NewProductPipe,
  ProductChangesPipe,
  ProductIdPipe,
  ProductQueryPipe,
} from './product.pipes.js';
import type { NewPrice, NewProduct, Product, ProductChanges, ProductQuery } from './product.js';
import { ProductsService } from './products.service.js';

@Controller('products')
export class ProductsController {
  constructor(private readonly products: ProductsService) {}

  @Get()
  async findAll(@Query(ProductQueryPipe) query: ProductQuery): Promise<Product[]> {
    return this.products.findAll(query);
  }

  @Get(':id')
  async findOne(@Param('id', ProductIdPipe) id: number): Promise<Product> {
    return this.products.findOne(id);
  }

  @Post()
  async create(@Body(NewProductPipe) product: NewProduct): Promise<Product> {
    return this.products.create(product);
  }

  @Post('prices')
  @HttpCode(200)
  async changePrices(@Body(NewPricesPipe) prices: NewPrice[]): Promise<Product[]> {
    return this.products.changePrices(prices);
  }

  @Patch(':id')
  async update(
    @Param('id', ProductIdPipe) id: number,
    @Body(ProductChangesPipe) changes: ProductChanges,
  ): Promise<Product> {
    return this.products.update(id, changes);
  }
}
