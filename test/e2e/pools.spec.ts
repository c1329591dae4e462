import { Injectable } from '@nestjs/common';
import { Cached, StampedeCacheModule, StampedeCacheService } from 'nestjs-stampede-cache';
import { boot, bootError } from './kit.js';

const loads = { concurrency: 3, pools: { reports: { concurrency: 1 } } } as const;

@Injectable()
class Reports {
  constructor(private readonly cache: StampedeCacheService) {}

  @Cached({ ttl: '1m', pool: 'reports' })
  async monthly(): Promise<unknown> {
    return this.cache.stats().pools;
  }
}

@Injectable()
class Misnamed {
  @Cached({ ttl: '1m', pool: 'report' })
  async monthly(): Promise<number> {
    return 1;
  }
}

describe('pools of the load guard', () => {
  it('are named by @Cached and getOrLoad', async () => {
    const app = await boot({ imports: [StampedeCacheModule.forRoot({ loads })], providers: [Reports] });
    const cache = app.get(StampedeCacheService);
    const inside = { default: { slots: 0 }, reports: { slots: 1, breaker: 'closed' } };

    expect(await app.get(Reports).monthly()).toMatchObject(inside);
    const policy = { ttl: '1m', pool: 'reports' } as const;
    expect(await cache.getOrLoad('k', async () => cache.stats().pools, policy)).toMatchObject(inside);
  });

  it('that there are not are refused: at bootstrap with the method, by getOrLoad at the call', async () => {
    const error = await bootError({
      imports: [StampedeCacheModule.forRoot({ loads })],
      providers: [Misnamed],
    });
    expect(error.message).toContain(
      "Misnamed.monthly: pool 'report' is unknown; known: 'default', 'reports'.",
    );

    const app = await boot({ imports: [StampedeCacheModule.forRoot({ loads })] });
    const call = app.get(StampedeCacheService).getOrLoad('k', async () => 1, { ttl: '1m', pool: 'report' });
    await expect(call).rejects.toThrow("pool 'report' is unknown; known: 'default', 'reports'.");
  });

  it('and so is a default for all entries that names none', async () => {
    const policy = { pool: 'report' };
    const error = await bootError({ imports: [StampedeCacheModule.forRoot({ loads, policy })] });

    expect(error.message).toContain("policy: pool 'report' is unknown");
  });
});
