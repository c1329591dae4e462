import { MemoryLab } from './memory-lab.js';

describe('policies written in the call', () => {
  it('are resolved once, as long as they say the same', async () => {
    const { requests } = (await new MemoryLab().process()).cache;
    const first = requests.policy({ ttl: '1m', tags: undefined }, 'Shop');
    expect(requests.policy({ ttl: '1m', tags: undefined }, 'Shop')).toBe(first);
  });

  it.each([
    ['another value', { ttl: '2m', stale: 0 }],
    ['one option more', { ttl: '1m', stale: 0, jitter: 0 }],
    ['one option less', { ttl: '1m' }],
    ['another option in its place', { ttl: '1m', jitter: 0 }],
  ] as const)('are told apart by %s', async (_, other) => {
    const { requests } = (await new MemoryLab().process()).cache;
    const first = requests.policy({ ttl: '1m', stale: 0 }, 'Shop');
    expect(requests.policy(other, 'Shop')).not.toBe(first);
    expect(requests.policy({ ttl: '1m', stale: 0 }, 'Shop')).toBe(first);
  });

  it('are told apart by their place, which messages name', async () => {
    const { requests } = (await new MemoryLab().process()).cache;
    requests.policy({ ttl: '1m' }, 'Shop');
    expect(requests.policy({ ttl: '1m' }, 'Hotel').where).toBe('Hotel');
  });

  it('are remembered as they were, whatever becomes of the object', async () => {
    const { requests } = (await new MemoryLab().process()).cache;
    const policy: { ttl: string } = { ttl: '1m' };
    const first = requests.policy(policy as never, 'Shop');
    policy.ttl = '2m';
    expect(requests.policy({ ttl: '2m' }, 'Shop')).not.toBe(first);
  });

  it('are remembered by the dozen, not without end', async () => {
    const { requests } = (await new MemoryLab().process()).cache;
    const first = requests.policy({ ttl: 5_000 }, 'Shop');
    for (let i = 0; i < 100; i++) requests.policy({ ttl: 10_000 + i }, 'Shop');
    expect(requests.policy({ ttl: 5_000 }, 'Shop')).not.toBe(first);
  });
});
