import { Injectable } from '@nestjs/common';
import { Cached, CacheEvict } from 'nestjs-stampede-cache';
import { Orders } from './orders.js';

/** Imports the file that imports this one: whichever is loaded first, the other's class is not there yet. */
@Injectable()
export class Customers {
  runs = 0;

  @Cached({ ttl: '60s' })
  async find(id: number) {
    return [id, (this.runs += 1)];
  }

  @CacheEvict({ of: () => [Orders, 'find'], args: (_result, id) => [id] })
  async rename(id: number) {
    return id;
  }
}
