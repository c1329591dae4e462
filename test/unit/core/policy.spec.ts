import * as zlib from 'node:zlib';
import { ConfigurationError, StampedeCacheError } from '../../../lib/core/errors.js';
import { parseDuration } from '../../../lib/core/duration.js';
import { resolveCacheOptions } from '../../../lib/core/cache-options.js';
import { resolveCall, resolvePolicy, type AnyPolicy } from '../../../lib/core/policy/index.js';

/** A policy as JavaScript may hand it in. */
const resolve = (policy: object, warn: (message: string) => void = () => undefined) =>
  resolvePolicy(policy as AnyPolicy, undefined, 'Shop.find', warn);

function refusal(run: () => unknown): StampedeCacheError {
  try {
    run();
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error('was accepted');
}

describe('durations', () => {
  it.each([
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['2h', 7_200_000],
    ['1d', 86_400_000],
    ['1.5s', 1_500],
    ['0.1ms', 1],
    ['0s', 0],
  ])('%s is %d ms', (text, expected) => {
    expect(parseDuration(text)).toBe(expected);
  });

  it.each(['', '60', '60 s', '-1s', '1y', 's', 'NaN', '1e3s', '5min', ' 5s', '1s1s'])(
    '%p is refused',
    (text) => {
      expect(refusal(() => parseDuration(text)).message).toContain(`'${text}' is not a duration`);
    },
  );

  it('numbers are milliseconds; fractions round up', () => {
    expect(resolve({ ttl: 0.2 }).ttl).toBe(1);
    expect(resolve({ ttl: 1500.4 }).ttl).toBe(1501);
  });
});

describe('a policy', () => {
  it('has the documented defaults', () => {
    expect(resolve({ ttl: '1m' })).toMatchObject({
      ttl: 60_000,
      stale: 0,
      staleIfError: 0,
      negativeTtl: 10_000,
      jitter: { share: 0.1 },
      earlyRefresh: { beta: 1 },
      coordinate: 'fleet',
      lease: 3_000,
      loadTimeout: 30_000,
      waitTimeout: 30_000,
      softTimeout: undefined,
      onWaitTimeout: 'error',
      abandon: 'finish',
      failureBackoff: 1_000,
      onRedisDown: 'load',
      onUncacheable: 'error',
      shared: false,
    });
  });

  it('derives staleIfError from stale, waitTimeout from loadTimeout, and caps negativeTtl at ttl', () => {
    expect(resolve({ ttl: '5s', stale: '1m', loadTimeout: '7s' })).toMatchObject({
      staleIfError: 60_000,
      waitTimeout: 7_000,
      negativeTtl: 5_000,
    });
  });

  it('lies over the defaults, option by option; undefined leaves the default', () => {
    const policy = { stale: undefined, negativeTtl: '1s' } as AnyPolicy;
    const resolved = resolvePolicy(policy, { ttl: '1m', stale: '10s' }, 'Shop.find');

    expect(resolved).toMatchObject({ ttl: 60_000, stale: 10_000, negativeTtl: 1_000 });
  });

  const wrong: [string, object][] = [
    ['ttl', {}],
    ['ttl', { ttl: -1 }],
    ['ttl', { ttl: NaN }],
    ['ttl', { ttl: Infinity }],
    ['ttl', { ttl: '60' }],
    ['ttl', { ttl: null }],
    ['ttl', { ttl: {} }],
    ['stale', { ttl: 1, stale: 'soon' }],
    ['staleIfError', { ttl: 1, staleIfError: -5 }],
    ['negativeTtl', { ttl: 1, negativeTtl: true }],
    ['isNegative', { ttl: 1, isNegative: 1 }],
    ['negativeErrors', { ttl: 1, negativeErrors: 'NotFound' }],
    ['negativeErrors', { ttl: 1, negativeErrors: [404] }],
    ['cacheIf', { ttl: 1, cacheIf: true }],
    ['jitter', { ttl: 1, jitter: 1.1 }],
    ['jitter', { ttl: 1, jitter: -0.1 }],
    ['jitter', { ttl: 1, jitter: 'ten' }],
    ['earlyRefresh', { ttl: 1, earlyRefresh: -1 }],
    ['earlyRefresh', { ttl: 1, earlyRefresh: { window: 0 } }],
    ['earlyRefresh', { ttl: 1, earlyRefresh: true }],
    ['coordinate', { ttl: 1, coordinate: 'cluster' }],
    ['mayExist', { ttl: 1, mayExist: {} }],
    ['lease', { ttl: 1, lease: 0 }],
    ['loadTimeout', { ttl: 1, loadTimeout: 0 }],
    ['softTimeout', { ttl: 1, softTimeout: 'x' }],
    ['waitTimeout', { ttl: 1, waitTimeout: [] }],
    ['onWaitTimeout', { ttl: 1, onWaitTimeout: 'retry' }],
    ['abandon', { ttl: 1, abandon: 'never' }],
    ['failureBackoff', { ttl: 1, failureBackoff: '1 s' }],
    ['onRedisDown', { ttl: 1, onRedisDown: 'throw' }],
    ['fallback', { ttl: 1, fallback: null }],
    ['onUncacheable', { ttl: 1, onUncacheable: 'ignore' }],
    ['type', { ttl: 1, type: 'Product' }],
    ['errors', { ttl: 1, errors: Error }],
    ['serializer', { ttl: 1, serializer: JSON }],
    ['shared', { ttl: 1, shared: 'yes' }],
    ['tags', { ttl: 1, tags: 'product' }],
    ['tags', { ttl: 1, tags: ['product', ''] }],
    ['tags', { ttl: 1, tags: Array.from({ length: 17 }, (_, index) => `t${index}`) }],
    ['valueTags', { ttl: 1, valueTags: ['product'] }],
    ['tttl', { ttl: 1, tttl: 1 }],
  ];
  it.each(wrong)('with a wrong %s (%j) is refused by method, option and value', (option, policy) => {
    const { message } = refusal(() => resolve(policy));

    expect(message).toContain('Shop.find');
    expect(message).toContain(option);
  });

  it.each([
    [undefined, undefined],
    [false, undefined],
    [true, { threshold: 16_384, algorithm: 'brotli' }],
    [{}, { threshold: 16_384, algorithm: 'brotli' }],
    [{ threshold: 0 }, { threshold: 0, algorithm: 'brotli' }],
    [{ threshold: '1.5kb' }, { threshold: 1_536, algorithm: 'brotli' }],
    [
      { threshold: '2mb', algorithm: 'gzip' },
      { threshold: 2_097_152, algorithm: 'gzip' },
    ],
  ])('takes compress: %j', (compress, expected) => {
    expect(resolve({ ttl: '1m', compress }).compress).toEqual(expected);
  });

  it('takes compress as a whole from where it stands', () => {
    const defaults = { ttl: '1m', compress: { algorithm: 'gzip', threshold: 5 } } as const;
    expect(resolvePolicy({}, defaults, 'Shop.find').compress).toEqual({ threshold: 5, algorithm: 'gzip' });
    expect(resolvePolicy({ compress: false }, defaults, 'Shop.find').compress).toBeUndefined();
    expect(resolvePolicy({ compress: true }, defaults, 'Shop.find').compress?.algorithm).toBe('brotli');
  });

  it.each([
    ['gzip', "compress is true, false or an object such as { threshold: '64kb' }, received 'gzip'"],
    [1, 'received 1'],
    [null, 'received null'],
    [['gzip'], "received [ 'gzip' ]"],
    [{ level: 9 }, 'compress.level is unknown (9); known: threshold, algorithm'],
    [{ threshold: -1 }, 'compress.threshold is a whole number of bytes >= 0'],
    [{ threshold: 1.5 }, 'received 1.5'],
    [{ threshold: NaN }, 'received NaN'],
    [{ threshold: '64 kb' }, "received '64 kb'"],
    [{ threshold: '64k' }, "such as '64kb', received '64k'"],
    [{ threshold: '1s' }, "received '1s'"],
    [{ algorithm: 'lz4' }, "compress.algorithm is one of 'brotli', 'gzip', 'deflate'"],
    [{ algorithm: true }, 'received true'],
  ])('refuses compress: %j', (compress, words) => {
    const { message, name } = refusal(() => resolve({ ttl: '1m', compress }));

    expect(name).toBe('ConfigurationError');
    expect(message).toContain('Shop.find: compress');
    expect(message).toContain(words);
  });

  it('takes zstd where this Node.js has it, and names the version where it has not', () => {
    const take = (): string | undefined =>
      resolve({ ttl: 1, compress: { algorithm: 'zstd' } }).compress?.algorithm;
    const words = `Shop.find: compress.algorithm 'zstd' is not part of Node.js ${process.version}; there are 'brotli', 'gzip', 'deflate'.`;

    expect('zstdCompress' in zlib ? take() : refusal(take).message).toBe(
      'zstdCompress' in zlib ? 'zstd' : words,
    );
  });

  it.each([null, 5, 'ttl'])('that is %p is refused', (policy) => {
    expect(refusal(() => resolvePolicy(policy as never, undefined, 'Shop.find')).message).toContain(
      'a policy is an object',
    );
  });

  it('warns about a bare ttl under a second, one over a year, and a softTimeout without effect', () => {
    const warnings: string[] = [];
    const warn = (message: string): void => void warnings.push(message);
    resolve({ ttl: 60 }, warn);
    resolve({ ttl: '60ms' }, warn);
    resolve({ ttl: '400d' }, warn);
    resolve({ ttl: '1m', softTimeout: '1s' }, warn);
    resolve({ ttl: '1m', softTimeout: '1s', stale: '1m', staleIfError: '1h' }, warn);

    expect(warnings).toHaveLength(3);
    expect(warnings[0]).toContain("60 is 60 milliseconds; did you mean '60s'?");
    expect(warnings[1]).toContain('over a year');
    expect(warnings[2]).toContain('softTimeout');
  });

  it('matches negativeErrors by class, by predicate and by both', () => {
    class Gone extends Error {}
    const { isNegativeError } = resolve({
      ttl: 1,
      negativeErrors: [Gone, (error: unknown) => error instanceof Error && error.message === '404'],
    });

    expect(isNegativeError?.(new Gone())).toBe(true);
    expect(isNegativeError?.(new Error('404'))).toBe(true);
    expect(isNegativeError?.(new Error('500'))).toBe(false);
    expect(isNegativeError?.(undefined as never)).toBe(false);
  });
});

describe('call options', () => {
  it.each([
    ['fresh', { fresh: 1 }],
    ['maxStale', { maxStale: 'x' }],
    ['signal', { signal: {} }],
    ['bypass', { bypass: 'yes' }],
    ['force', { force: true }],
  ])('with a wrong %s are refused', (option, call) => {
    expect(refusal(() => resolveCall(call as never)).message).toContain(option);
  });

  it('lie over those around them', () => {
    const around = resolveCall({ fresh: true, maxStale: '1s' });

    expect(resolveCall({ maxStale: 0 }, around)).toMatchObject({ fresh: true, maxStale: 0 });
    expect(resolveCall(undefined, around)).toBe(around);
  });
});

describe('cache options', () => {
  it('have the documented defaults', () => {
    expect(resolveCacheOptions({})).toMatchObject({
      loads: { waiters: 50_000 },
      redisTimeout: 100,
      redisWriteTimeout: 1_000,
      enabled: true,
      maxValueBytes: 8 * 1024 * 1024,
    });
  });

  it('give the load guard one pool, with a breaker', () => {
    expect(Object.fromEntries(resolveCacheOptions({}).loads.pools)).toEqual({
      default: {
        concurrency: 100,
        queue: 10_000,
        queueTimeout: 1_000,
        breaker: { threshold: 0.5, window: 10_000, minimum: 20, halfOpenAfter: 5_000 },
      },
    });
  });

  it('give a pool what it leaves out from loads', () => {
    const breaker = { threshold: 0.2, halfOpenAfter: '1s' } as const;
    const pools = {
      reports: { concurrency: 5, breaker: { minimum: 3 } },
      search: { queueTimeout: '5s', breaker: false },
    } as const;
    const { loads } = resolveCacheOptions({ loads: { concurrency: 8, queue: 50, breaker, pools } });

    const inherited = { threshold: 0.2, window: 10_000, minimum: 20, halfOpenAfter: 1_000 };
    expect(Object.fromEntries(loads.pools)).toEqual({
      default: { concurrency: 8, queue: 50, queueTimeout: 1_000, breaker: inherited },
      reports: { concurrency: 5, queue: 50, queueTimeout: 1_000, breaker: { ...inherited, minimum: 3 } },
      search: { concurrency: 8, queue: 50, queueTimeout: 5_000, breaker: false },
    });
  });

  it('take any pool that there is, the default one included', () => {
    const options = { loads: { pools: { reports: {} } } };

    for (const pool of ['reports', 'default']) {
      expect(resolveCacheOptions({ ...options, policy: { pool } }).policy).toEqual({ pool });
    }
  });

  it.each([
    ['loads.concurrency', { loads: { concurrency: 0 } }],
    ['loads.queue', { loads: { queue: 1.5 } }],
    ['loads.queueTimeout', { loads: { queueTimeout: 'x' } }],
    ['loads.waiters', { loads: { waiters: '5' } }],
    ['loads.breaker', { loads: { breaker: true } }],
    ['loads.breaker.rate', { loads: { breaker: { rate: 0.5 } } }],
    ['loads.breaker.threshold', { loads: { breaker: { threshold: 0 } } }],
    ['loads.breaker.threshold', { loads: { breaker: { threshold: 1.1 } } }],
    ['loads.breaker.window', { loads: { breaker: { window: '50ms' } } }],
    ['loads.breaker.minimum', { loads: { breaker: { minimum: 0 } } }],
    ['loads.breaker.halfOpenAfter', { loads: { breaker: { halfOpenAfter: 0 } } }],
    ['loads.pools', { loads: { pools: [] } }],
    ['loads.pools.default', { loads: { pools: { default: {} } } }],
    ['loads.pools.reports', { loads: { pools: { reports: 5 } } }],
    ['loads.pools.reports.concurrency', { loads: { pools: { reports: { concurrency: 0 } } } }],
    ['loads.pools.reports.waiters', { loads: { pools: { reports: { waiters: 5 } } } }],
    ['loads.pools.reports.breaker.window', { loads: { pools: { reports: { breaker: { window: 'x' } } } } }],
    [`policy: pool 'unknown'`, { policy: { pool: 'unknown' }, loads: { pools: { reports: {} } } }],
    ['loads.limit', { loads: { limit: 1 } }],
    ['loads', { loads: 5 }],
    ['redisTimeout', { redisTimeout: 'x' }],
    ['redisWriteTimeout', { redisWriteTimeout: -1 }],
    ['vary', { vary: 'tenant' }],
    ['bypass', { bypass: true }],
    ['enabled', { enabled: 'no' }],
    ['maxValueBytes', { maxValueBytes: 0 }],
  ])('with a wrong %s are refused by name and value', (option, options) => {
    expect(refusal(() => resolveCacheOptions(options as never)).message).toContain(option);
  });
});
