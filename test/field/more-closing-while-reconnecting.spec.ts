import { InvalidationError } from 'nestjs-stampede-cache';
import { errorOf } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

describe('A process that ends just after a fail-over, with a change that was not acknowledged', () => {
  it('makes the change before it goes: Redis is back, its connection is a moment behind', async () => {
    const [app, other] = [await here.app(), await here.app()];
    await app.cache.set('k', 'old');
    // What clients see of a master that became a replica: READONLY, upon which they connect anew.
    await here.raw.replicaof(here.redis.host, 1);
    const error = await errorOf(app.cache.invalidate('k'));
    expect(error).toBeInstanceOf(InvalidationError);
    await here.raw.replicaof('NO', 'ONE');
    await app.close();
    expect(await other.cache.get('k')).toBeUndefined();
  });
});
