import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { field } from './support/field.js';

const here = field();

@Injectable()
class Records {
  readonly rows = new Map<number, string>();
  down = false;
  loads = 0;

  @Cached({ ttl: '5m', negativeTtl: '60s' })
  async find(id: number): Promise<string | null> {
    this.loads += 1;
    if (this.down) throw new Error('timeout');
    return this.rows.get(id) ?? null;
  }
}

describe('FC-078: "not found"', () => {
  it('is not what an outage leaves behind: the next call finds the record', async () => {
    const app = await here.app({ providers: [Records] });
    const records = app.get(Records);
    records.rows.set(1, 'one');
    records.down = true;
    await expect(records.find(1)).rejects.toThrow('timeout');
    expect(await here.entries()).toEqual([]);
    records.down = false;
    expect(await records.find(1)).toBe('one');
  });

  it('is kept as such for its own ttl, and forgotten by an invalidation', async () => {
    const app = await here.app({ providers: [Records] });
    const records = app.get(Records);
    expect(await records.find(1)).toBeNull();
    expect(await records.find(1)).toBeNull();
    expect(records.loads).toBe(1);
    const handle = app.cache.of(Records, 'find');
    expect(await handle.inspect(1)).toMatchObject({ negative: true });
    const pttl = await here.pttl();
    expect(pttl).toBeGreaterThan(59_000);
    expect(pttl).toBeLessThanOrEqual(60_000);
    records.rows.set(1, 'one');
    await handle.invalidate(1);
    expect(await records.find(1)).toBe('one');
    expect(await handle.inspect(1)).toMatchObject({ negative: false });
  });

  it('takes the place of a record that is no more, and never of one that could not be asked for', async () => {
    const { cache } = await here.app();
    const policy = { ttl: '5m', negativeTtl: '60s' } as const;
    await cache.set('k', 'one', policy);
    const failed = cache.getOrLoad('k', () => Promise.reject(new Error('timeout')), policy, { fresh: true });
    await expect(failed).rejects.toThrow('timeout');
    expect(await cache.get('k')).toBe('one');
    expect(await cache.getOrLoad<string | null>('k', () => null, policy, { fresh: true })).toBeNull();
    expect(await cache.inspect('k')).toMatchObject({ negative: true });
  });
});
