import { Injectable, ServiceUnavailableException } from '@nestjs/common';
import { Cached, notFound } from 'nestjs-stampede-cache';
import { field } from './support/field.js';

const here = field();

interface Answer {
  readonly status: number;
}

@Injectable()
class Upstream {
  status = 503;
  calls = 0;

  @Cached({ ttl: '7m', cacheIf: ({ status }) => status < 500 })
  async fetch(): Promise<Answer> {
    this.calls += 1;
    return { status: this.status };
  }

  @Cached({ ttl: '7m', negativeErrors: notFound })
  async throwing(): Promise<Answer> {
    this.calls += 1;
    if (this.status === 503) throw new ServiceUnavailableException('try later');
    return { status: this.status };
  }
}

describe('FC-039: a transient failure', () => {
  it('that is reported by value reaches its callers and is not stored', async () => {
    const app = await here.app({ providers: [Upstream] });
    const upstream = app.get(Upstream);
    expect(await Promise.all([upstream.fetch(), upstream.fetch()])).toEqual([
      { status: 503 },
      { status: 503 },
    ]);
    expect(upstream.calls).toBe(1);
    expect(await here.entries()).toEqual([]);
    upstream.status = 200;
    expect(await upstream.fetch()).toEqual({ status: 200 });
    expect(await upstream.fetch()).toEqual({ status: 200 });
    expect(upstream.calls).toBe(2);
    expect(await here.pttl()).toBeGreaterThan(419_000);
  });

  it('is not stored by a service that throws it, 404 and 410 being the only answers among its errors', async () => {
    const app = await here.app({ providers: [Upstream] });
    const upstream = app.get(Upstream);
    await expect(upstream.throwing()).rejects.toMatchObject({ status: 503 });
    expect(await here.entries()).toEqual([]);
    upstream.status = 200;
    expect(await upstream.throwing()).toEqual({ status: 200 });
  });

  it('does not replace a good value that is still there', async () => {
    const { cache } = await here.app();
    const policy = { ttl: '7m', cacheIf: (answer: Answer) => answer.status < 500 } as const;
    await cache.set('k', { status: 200 }, policy);
    expect(await cache.getOrLoad('k', () => ({ status: 503 }), policy, { fresh: true })).toEqual({
      status: 503,
    });
    expect(await here.entries()).toHaveLength(1);
  });
});
