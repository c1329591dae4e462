export interface Product {
  readonly id: number;
  readonly name: string;
  readonly category: string;
  /** In cents. */
  readonly price: number;
}

export type NewProduct = Omit<Product, 'id'>;

export type ProductChanges = Partial<NewProduct>;

export type NewPrice = Pick<Product, 'id' | 'price'>;

export interface ProductQuery {
  readonly category?: string;
  /** Counts from 1. */
  readonly page: number;
}
