import { HttpException } from '@nestjs/common';
import type { CacheOptions } from '../../../../lib/core/cache-options.js';
import type { AnyPolicy } from '../../../../lib/core/policy/index.js';
import { errorOf } from '../../../contract/cache/subject.js';
import type { Process } from '../../../contract/cache/lab.js';
import { Origin } from '../../../support/origin.js';
import { MemoryLab } from '../memory-lab.js';

const down = (): Promise<never> => Promise.reject(new Error('the origin is down'));
const SHED = { code: 'LOAD_REJECTED' };

let lab: MemoryLab;
let keys: number;

beforeEach(() => {
  lab = new MemoryLab();
  keys = 0;
});

const open = (options: CacheOptions = {}): Promise<Process> => lab.process(options);
const breakerOf = (a: Process, pool = 'default'): string | undefined => a.cache.stats().pools[pool]?.breaker;

/** So many loads of keys of their own, one after another. */
async function loads(a: Process, count: number, load: () => unknown, policy: AnyPolicy = {}): Promise<void> {
  for (let i = 0; i < count; i++) await a.get(`other-${(keys += 1)}`, load, policy).catch(() => undefined);
  await lab.fake.settle();
}

/** A process whose breaker has just opened. */
async function opened(options: CacheOptions = {}): Promise<Process> {
  const a = await open(options);
  await loads(a, 20, down);
  expect(breakerOf(a)).toBe('open');
  return a;
}

describe('a breaker opens', () => {
  it('when half of at least 20 loads within the window have failed', async () => {
    const a = await open();
    await loads(a, 10, () => 'v');
    await loads(a, 9, down);
    expect(breakerOf(a)).toBe('closed');

    await loads(a, 1, down);
    expect(breakerOf(a)).toBe('open');
  });

  it('not for fewer than half', async () => {
    const a = await open();
    await loads(a, 30, () => 'v');
    await loads(a, 29, down);

    expect(breakerOf(a)).toBe('closed');
  });

  it('not for failures that are older than the window, however seldom anything is loaded', async () => {
    const a = await open();
    for (let i = 0; i < 60; i++) {
      await loads(a, 1, down);
      await lab.fake.advance(600);
    }

    expect(breakerOf(a)).toBe('closed');
  });

  it('at the threshold, the minimum and the window it was given', async () => {
    const breaker = { threshold: 1, minimum: 3, window: '1m' } as const;
    const a = await open({ loads: { breaker } });
    for (let i = 0; i < 2; i++) {
      await loads(a, 1, down);
      await lab.fake.advance(20_000);
    }
    expect(breakerOf(a)).toBe('closed');
    await loads(a, 1, down);

    expect(breakerOf(a)).toBe('open');
  });

  it('for loads that do not end within loadTimeout', async () => {
    const a = await open();
    const hung = Array.from({ length: 20 }, (_, i) =>
      errorOf(a.get(`h${i}`, () => new Promise(() => undefined), { loadTimeout: 1_000 })),
    );
    await lab.fake.advance(1_000);
    await Promise.all(hung);

    expect(breakerOf(a)).toBe('open');
  });

  it('never, with breaker: false', async () => {
    const a = await open({ loads: { breaker: false } });
    await loads(a, 50, down);

    expect(breakerOf(a)).toBe('off');
    expect(await a.get('k', () => 'v')).toBe('v');
  });
});

describe('no failures are', () => {
  it.each<[string, () => unknown, AnyPolicy]>([
    ['HttpExceptions 4xx', () => Promise.reject(new HttpException('gone', 410)), {}],
    ['negativeErrors', down, { negativeErrors: Error, negativeTtl: 0 }],
    ['values that cannot be stored', () => () => undefined, {}],
    ['values that nobody wants stored', () => 'v', { cacheIf: () => false }],
  ])('%s', async (_, load, policy) => {
    const a = await open();
    await loads(a, 40, load, policy);

    expect(breakerOf(a)).toBe('closed');
  });

  it('loads that were aborted', async () => {
    const a = await open();
    for (let i = 0; i < 30; i++) {
      const gone = new AbortController();
      const call = errorOf(
        a.get(`a${i}`, () => new Promise(() => undefined), { abandon: 'abort' }, { signal: gone.signal }),
      );
      await lab.fake.settle();
      gone.abort();
      await call;
      await lab.fake.settle();
    }

    expect(a.cache.stats().loads.failed).toBe(30);
    expect(breakerOf(a)).toBe('closed');
  });

  it('loads that failed because another pool shed what they called', async () => {
    const pools = { reports: { breaker: { minimum: 1 } } };
    const a = await open({ loads: { pools } });
    await loads(a, 1, down, { pool: 'reports' });
    await loads(a, 40, () => a.get('inner', () => 'v', { pool: 'reports' }));

    expect([breakerOf(a), breakerOf(a, 'reports')]).toEqual(['closed', 'open']);
  });

  it('but HttpExceptions 5xx are', async () => {
    const a = await open();
    await loads(a, 20, () => Promise.reject(new HttpException('away', 502)));

    expect(breakerOf(a)).toBe('open');
  });
});

describe('while it is open', () => {
  it('a call is shed without a load, and told when the next one tries', async () => {
    const a = await opened();
    await lab.fake.advance(1_500);
    const origin = new Origin();
    const error = await errorOf(a.get('k', origin.load));

    expect(error).toMatchObject({ ...SHED, retryAfter: 3_500, statusCode: 503 });
    expect(String(error)).toMatch(/Shop\.find.*pool 'default' is failing.*loads\.breaker/);
    expect(origin.starts).toBe(0);
  });

  it('a stale value is served where one is allowed, and its refresh loads nothing either', async () => {
    const a = await open();
    const policy = { ttl: 100, stale: 60_000 };
    const strict = { ttl: 100, staleIfError: 60_000 };
    await a.get('k', () => 'old', policy);
    await a.get('s', () => 'old', strict);
    await loads(a, 40, down);
    await lab.fake.advance(200);
    const origin = new Origin();

    expect(await a.entry('k', origin.load, policy)).toMatchObject({ value: 'old', outcome: 'stale' });
    expect(await a.entry('s', origin.load, strict)).toMatchObject({ value: 'old', outcome: 'stale' });
    await lab.fake.settle();
    expect(origin.starts).toBe(0);
  });

  it('else the fallback', async () => {
    const a = await opened();

    expect(await a.entry('k', down, { fallback: (error) => [error] })).toMatchObject({
      value: [SHED],
      outcome: 'fallback',
    });
  });

  it('hits are hits', async () => {
    const a = await open();
    await a.get('k', () => 'v');
    await loads(a, 40, down);

    expect(await a.get('k', down)).toBe('v');
  });

  it('what queues for a slot is shed at once', async () => {
    const a = await open({ loads: { concurrency: 20 } });
    const origin = new Origin();
    const calls = Array.from({ length: 25 }, (_, i) => errorOf(a.get(`q${i}`, origin.load)));
    await origin.started(20);
    for (let i = 0; i < 20; i++) await origin.fail(new Error('down'));
    const errors = await Promise.all(calls);

    // A slot that comes free before the last failure is taken at once.
    expect(
      errors.slice(20).filter((error) => (error as { code?: string }).code === 'LOAD_REJECTED'),
    ).not.toEqual([]);
    expect(a.cache.stats().active).toMatchObject({ queued: 0, slots: 0, flights: 0 });
  });

  it('a load that has its slot and its lease is not begun any more, and gives both back', async () => {
    const a = await open({ loads: { breaker: { minimum: 1 } } });
    const origin = new Origin();
    const failing = errorOf(a.get('failing', origin.load));
    await origin.started(1);
    const acquire = a.store.acquire.bind(a.store);
    jest.spyOn(a.store, 'acquire').mockImplementation(async (key, request) => {
      const reply = await acquire(key, request);
      await origin.fail(new Error('down'));
      await lab.fake.settle();
      return reply;
    });
    const late = new Origin();

    expect(await errorOf(a.get('late', late.load))).toMatchObject(SHED);
    await failing;
    jest.restoreAllMocks();
    expect(late.starts).toBe(0);
    expect(a.cache.stats().active.slots).toBe(0);
    expect(await a.inspect('late')).toBeNull();
  });
});

describe('after halfOpenAfter', () => {
  it('one load tries, everybody else is shed meanwhile; its success closes the breaker', async () => {
    const a = await opened();
    await lab.fake.advance(5_000);
    const origin = new Origin();
    const trial = a.get('k0', origin.load);
    await origin.started(1);
    const others = await Promise.all([1, 2, 3].map((i) => errorOf(a.get(`k${i}`, origin.load))));

    expect(breakerOf(a)).toBe('half-open');
    expect(others).toEqual([1, 2, 3].map(() => expect.objectContaining({ ...SHED, retryAfter: 1_000 })));
    expect(origin.starts).toBe(1);
    await origin.give('v');
    expect(await trial).toBe('v');
    await lab.fake.settle();
    expect(breakerOf(a)).toBe('closed');
    // What failed before the trial is forgotten.
    await loads(a, 15, down);
    expect(breakerOf(a)).toBe('closed');
  });

  it('its failure opens the breaker again, for as long', async () => {
    const a = await opened();
    await lab.fake.advance(5_000);
    await loads(a, 1, down);

    expect(breakerOf(a)).toBe('open');
    await lab.fake.advance(4_999);
    expect(await errorOf(a.get('k', () => 'v'))).toMatchObject({ ...SHED, retryAfter: 1 });
    await lab.fake.advance(1);
    expect(await a.get('k', () => 'v')).toBe('v');
  });

  it('a load that says nothing of the origin leaves the trial to the next', async () => {
    const a = await opened();
    await lab.fake.advance(5_000);
    const gone = new AbortController();
    const origin = new Origin();
    const aborted = errorOf(a.get('k0', origin.load, { abandon: 'abort' }, { signal: gone.signal }));
    await origin.started(1);
    gone.abort();
    await aborted;
    await lab.fake.settle();

    expect(breakerOf(a)).toBe('half-open');
    expect(await a.get('k1', () => 'v')).toBe('v');
    await lab.fake.settle();
    expect(breakerOf(a)).toBe('closed');
  });

  it('a load that another process does instead leaves the trial to the next', async () => {
    const [a, b] = [await opened(), await open()];
    const theirs = new Origin();
    const theirCall = b.get('k', theirs.load);
    await theirs.started(1);
    await lab.fake.advance(5_000);
    const waiting = a.get('k', down);
    await lab.fake.settle();

    expect(await a.get('other', () => 'v')).toBe('v');
    await theirs.give('theirs');
    expect(await Promise.all([theirCall, waiting])).toEqual(['theirs', 'theirs']);
  });

  it('a refresh tries, if nothing else comes', async () => {
    const a = await open();
    const policy = { ttl: 100, stale: 60_000 };
    await a.get('k', () => 'old', policy);
    await loads(a, 40, down);
    await lab.fake.advance(5_000);

    expect(await a.get('k', () => 'new', policy)).toBe('old');
    await lab.fake.settle();
    expect(await a.get('k', down, policy)).toBe('new');
    expect(breakerOf(a)).toBe('closed');
  });

  it('a refresh that finds no slot leaves the trial to a caller', async () => {
    const a = await lab.process({ loads: { concurrency: 4 } });
    const policy = { ttl: 100, stale: 600_000 };
    for (const key of ['r1', 'r2', 'r3']) await a.get(key, () => 'old', policy);
    await lab.fake.advance(200);
    // The one slot for refreshes hangs.
    await a.get('r1', () => new Promise(() => undefined), policy);
    await loads(a, 40, down);
    expect(breakerOf(a)).toBe('open');
    await lab.fake.advance(5_000);
    for (const key of ['r2', 'r3']) await a.get(key, () => 'new', policy);
    expect(await a.get('k', () => 'v')).toBe('v');
    expect(breakerOf(a)).toBe('closed');
    await lab.fake.advance(60_000);
  });

  it('the trial may load what it calls itself, and speaks for it', async () => {
    const a = await opened();
    await lab.fake.advance(5_000);
    const inner = (): Promise<unknown> => a.get('inner', () => a.get('innermost', () => 'v'));

    expect(await a.get('outer', inner)).toBe('v');
    await lab.fake.settle();
    expect(breakerOf(a)).toBe('closed');
  });

  it('a load that began before it opened has no say', async () => {
    const a = await open();
    const old = Array.from({ length: 30 }, (_, i) =>
      errorOf(a.get(`old${i}`, () => new Promise(() => undefined), { loadTimeout: 7_000 })),
    );
    await loads(a, 20, down);
    await lab.fake.advance(5_000);
    await loads(a, 1, () => 'v');
    expect(breakerOf(a)).toBe('closed');
    await lab.fake.advance(2_000);
    await Promise.all(old);

    expect(breakerOf(a)).toBe('closed');
  });

  it('comes by the monotonic clock: a wall clock that is set back keeps nothing open', async () => {
    const a = await opened();
    const wall = jest.spyOn(Date, 'now').mockReturnValue(0);
    await lab.fake.advance(5_000);

    expect(await a.get('k', () => 'v')).toBe('v');
    wall.mockRestore();
  });
});

describe('the log', () => {
  it('has one line for each change, which names the pool', async () => {
    const a = await lab.process({ loads: { pools: { reports: {} } } });
    const policy = { pool: 'reports' };
    await loads(a, 25, down, policy);
    await lab.fake.advance(5_000);
    await loads(a, 3, down, policy);
    await lab.fake.advance(5_000);
    await loads(a, 3, () => 'v', policy);

    const lines = lab.fake.logs.filter(({ message }) => message.includes("breaker of pool 'reports'"));
    expect(
      lines.map(({ level, message }) => [level, /has opened|half-open|has closed/.exec(message)?.[0]]),
    ).toEqual([
      ['warn', 'has opened'],
      ['info', 'half-open'],
      ['warn', 'has opened'],
      ['info', 'half-open'],
      ['info', 'has closed'],
    ]);
  });
});
