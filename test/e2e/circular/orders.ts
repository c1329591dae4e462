import { Injectable } from '@nestjs/common';
import { Cached, CacheEvict } from 'nestjs-stampede-cache';
import { Customers } from './customers.js';

@Injectable()
export class Orders {
  runs = 0;

  @Cached({ ttl: '60s' })
  async find(id: number) {
    return [id, (this.runs += 1)];
  }

  @CacheEvict({ of: () => [Customers, 'find'], args: (_result, id) => [id] })
  async place(id: number) {
    return id;
  }
}
