import {
  cacheControlOf,
  cacheStatusOf,
  cacheStatusWith,
  checkCacheControl,
  type EntryLife,
  etagOf,
  isNotModified,
  parseDirectives,
  varyWith,
} from '../../../../lib/nest/route/response/index.js';

describe('an entity tag', () => {
  it('is weak, short and the same for the same text or bytes', () => {
    expect(etagOf('abc')).toMatch(/^W\/"[\w-]{22}"$/);
    expect(etagOf(Buffer.from('abc'))).toBe(etagOf('abc'));
    expect(etagOf('abd')).not.toBe(etagOf('abc'));
  });

  it.each([
    ['itself', 'W/"a"', true],
    ['the strong form: compared weakly', '"a"', true],
    ['a list with it', '"x", W/"y,z" ,W/"a"', true],
    ['a list with empty members', ',, "x",,"a",', true],
    ['anything', ' * ', true],
    ['a list without it', '"x", "b"', false],
    ['it inside another tag', '"x,a"', false],
    ['a star inside a list', '"x", *', false],
    ['an unquoted text', 'a', false],
    ['it after junk', 'junk junk, "a"', true],
    ['no field', undefined, false],
    ['an empty field', '', false],
  ])('matches %s', (_what, field, matches) => {
    expect(isNotModified(field, 'W/"a"')).toBe(matches);
  });

  it('is looked for in a bounded part of a hostile list', () => {
    const tail = ', W/"a"';
    expect(isNotModified(`${'"x",'.repeat(100)}${tail}`, 'W/"a"')).toBe(true);
    for (const hostile of ['"x",', ' ,', '"', 'W/', ', "']) {
      const began = process.cpuUsage();
      expect(isNotModified(hostile.repeat(250_000) + tail, 'W/"a"')).toBe(false);
      expect(process.cpuUsage(began).user).toBeLessThan(500_000);
    }
  });
});

describe('Cache-Control of an answer', () => {
  const life: EntryLife = {
    ageMs: 3_900,
    freshForMs: 56_900,
    staleMs: 300_000,
    staleIfErrorMs: 600_000,
    stored: true,
  };
  const entry = (changed: Partial<EntryLife> = {}, isPrivate = false) =>
    cacheControlOf({ setting: 'entry', life: { ...life, ...changed }, isPrivate });

  it('lets nobody keep a copy by default', () => {
    expect(cacheControlOf({ setting: undefined, life, isPrivate: false })).toBe('private, no-cache');
  });

  it("is the entry's own life where that is wanted: max-age - Age is what is left", () => {
    expect(entry()).toBe('public, max-age=59, stale-while-revalidate=300, stale-if-error=600');
    expect(entry({}, true)).toBe('private, max-age=59, stale-while-revalidate=300, stale-if-error=600');
  });

  it('counts what is left of the windows of a stale entry', () => {
    expect(entry({ ageMs: 70_000, freshForMs: -10_000 })).toBe(
      'public, max-age=70, stale-while-revalidate=290, stale-if-error=590',
    );
    expect(entry({ ageMs: 70_000, freshForMs: -10_000, staleMs: 10_000, staleIfErrorMs: 0 })).toBe(
      'public, max-age=70',
    );
  });

  it('stays within the range of delta-seconds', () => {
    expect(entry({ freshForMs: Infinity, staleMs: Infinity, staleIfErrorMs: 0 })).toBe(
      'public, max-age=2147483647, stale-while-revalidate=2147483647',
    );
  });

  it('is as cautious as the default for what is not stored', () => {
    expect(entry({ stored: false })).toBe('private, no-cache');
  });

  it("is the route's own text, or absent", () => {
    expect(cacheControlOf({ setting: 'no-store', life, isPrivate: false })).toBe('no-store');
    expect(cacheControlOf({ setting: false, life, isPrivate: false })).toBeUndefined();
  });

  it.each([
    'entry',
    false,
    undefined,
    'public, max-age=60',
    'no-cache="set-cookie"',
    'max-age=1,s-maxage=2',
    'x=a.b',
  ])('may be set to %p', (setting) => {
    expect(checkCacheControl(setting)).toBeUndefined();
  });

  it.each([true, 5, null, '', 'max-age = 60', 'a,,b', 'a, ', 'public\r\nX-Evil: 1', 'a="', 'ä'])(
    'may not be set to %p',
    (setting) => {
      expect(checkCacheControl(setting)).toMatch(/^is /);
    },
  );
});

describe('Cache-Status', () => {
  it.each([
    [{ ttlMs: 57_900 }, 'stampede-cache; hit; ttl=57'],
    [{ ttlMs: -1 }, 'stampede-cache; hit; ttl=-1'],
    [{ ttlMs: Infinity }, 'stampede-cache; hit; ttl=999999999999999'],
    [
      { fwd: 'uri-miss', fwdStatus: 200, stored: true, ttlMs: 60_000 },
      'stampede-cache; fwd=uri-miss; fwd-status=200; stored; ttl=60',
    ],
    [{ fwd: 'uri-miss', collapsed: true }, 'stampede-cache; fwd=uri-miss; collapsed'],
    [{ fwd: 'bypass', detail: 'credential' }, 'stampede-cache; fwd=bypass; detail=credential'],
    [{ fwd: 'stale', detail: 'a "b" ü' }, 'stampede-cache; fwd=stale; detail="a \\"b\\" %C3%BC"'],
    [{ name: 'reports' }, 'stampede-cache.reports; hit'],
    [{ name: 'two words' }, '"stampede-cache.two words"; hit'],
    [{ name: 'a\ud800' }, '"stampede-cache.a%EF%BF%BD"; hit'],
  ] as const)('of %p', (status, text) => {
    expect(cacheStatusOf(status)).toBe(text);
  });

  it("follows an upstream cache's", () => {
    expect(cacheStatusWith(undefined, 'b; hit')).toBe('b; hit');
    expect(cacheStatusWith('a; fwd=miss', 'b; hit')).toBe('a; fwd=miss, b; hit');
    expect(cacheStatusWith(['a; hit', 'c; hit'], 'b; hit')).toBe('a; hit, c; hit, b; hit');
  });
});

describe('Vary', () => {
  it.each([
    [undefined, ['Accept'], 'Accept'],
    ['Origin', ['accept-language', 'origin'], 'Origin, accept-language'],
    [['Origin', ' Accept ,origin'], [], 'Origin, Accept'],
    ['*', ['Accept'], '*'],
    ['Accept', ['*'], '*'],
    [undefined, [], ''],
  ])('%p with %p', (existing, names, vary) => {
    expect(varyWith(existing, names)).toBe(vary);
  });
});

describe("a request's directives", () => {
  const none = { noCache: false, noStore: false, onlyIfCached: false };

  it.each([
    [undefined, none],
    ['', none],
    ['no-cache', { ...none, noCache: true }],
    [' No-Store , ONLY-IF-CACHED', { noCache: false, noStore: true, onlyIfCached: true }],
    ['max-age=0', { ...none, maxAgeMs: 0 }],
    ['max-age="5"', { ...none, maxAgeMs: 5_000 }],
    ['max-age=9, max-age=5', { ...none, maxAgeMs: 5_000 }],
    ['max-age=99999999999999', { ...none, maxAgeMs: 2_147_483_648_000 }],
    ['max-age, max-age=, max-age=-1, max-age=1.5, max-age=a', none],
    ['max-stale', { ...none, maxStaleMs: Infinity }],
    ['max-stale, max-stale=60', { ...none, maxStaleMs: 60_000 }],
    ['max-stale=junk', none],
    [',,;;=, "no-cache", nö, no-cache', { ...none, noCache: true }],
  ])('of %p', (field, directives) => {
    expect(parseDirectives(field)).toEqual(directives);
  });

  it('heed Pragma only where there is no Cache-Control', () => {
    expect(parseDirectives(undefined, 'foo, No-Cache').noCache).toBe(true);
    expect(parseDirectives('max-age=5', 'no-cache').noCache).toBe(false);
    expect(parseDirectives(undefined, 'no-cache-at-all').noCache).toBe(false);
  });

  it('are read from a bounded part of the field', () => {
    expect(parseDirectives(`${'a,'.repeat(100)}no-store`).noStore).toBe(false);
    expect(parseDirectives(`${' '.repeat(2_000)}no-store`).noStore).toBe(false);
  });
});
