import { encodeHeader, isReadable, parseEntry, type StoredEntry } from '../../../lib/core/entry/index.js';
import { entryKey, placeOf } from '../../../lib/core/keys/index.js';
import { NearCache, type NearLimits } from '../../../lib/core/near/index.js';

const MAX_LAG = 1_000;
const TTL = 30_000;
const LIMITS: NearLimits = { maxEntries: 3, maxBytes: 100_000, ttl: TTL };
const EPOCH = 1_700_000_000_000;
const PLAIN = { types: undefined, serializer: undefined, shared: false } as const;

/** So many bytes of JSON. */
const text = (length: number) => JSON.stringify('x'.repeat(length - 2));

class Lab {
  time = 10_000;
  told = 10_000;
  readonly near: NearCache;

  constructor(limits: Partial<NearLimits> = {}, isDefault = true) {
    const clock = { now: () => this.time };
    const store = { now: () => EPOCH + this.time, toldUntil: () => this.told };
    this.near = new NearCache(store, clock, MAX_LAG, { ...LIMITS, ...limits }, isDefault);
  }

  /** Time goes by, and the store proves that nothing was missed. */
  pass(ms: number): void {
    this.time += ms;
    this.told = this.time;
  }

  entry(name: string, { ttl = 60_000, payload = '{"a":1}' } = {}): StoredEntry {
    const key = entryKey(name, undefined, 's1');
    const bytes = Buffer.from(payload);
    const now = EPOCH + this.time;
    const header = encodeHeader({
      kind: 'value',
      codec: 'j',
      softAt: now + ttl,
      loadStart: now - 5,
      sourceVersion: 0,
      id: 'A'.repeat(22),
      size: bytes.length,
      cost: 5,
      bornAt: now,
      ttl,
      hard: ttl,
      epoch: 0,
      digest: key.digest,
      tags: [],
    });
    const entry = parseEntry(Buffer.concat([header, bytes]), key);
    if (entry === undefined || !isReadable(entry)) throw new Error('the entry could not be read back');
    return entry;
  }

  put(name: string, more?: { ttl?: number; payload?: string }): string {
    const place = placeOf(entryKey(name, undefined, 's1'));
    this.near.end(place, this.near.begin(place), this.entry(name, more), TTL);
    return place;
  }
}

describe('a near cache', () => {
  it('keeps what a read brought', () => {
    const lab = new Lab();
    const place = lab.put('a');
    expect(lab.near.find(place)?.payload.bytes.toString()).toBe('{"a":1}');
    expect(lab.near.find('another')).toBeUndefined();
  });

  it('believes a copy as long as it is fresh', () => {
    const lab = new Lab();
    const place = lab.put('a', { ttl: 5_000 });
    lab.pass(4_999);
    expect(lab.near.find(place)).toBeDefined();
    lab.pass(1);
    expect(lab.near.find(place)).toBeUndefined();
    expect(lab.near.stats.entries).toBe(0);
  });

  it('believes none for longer than its ttl, and the shorter one of a policy', () => {
    const lab = new Lab();
    const place = lab.put('a');
    lab.pass(TTL - 1);
    expect(lab.near.find(place)).toBeDefined();
    lab.pass(1);
    expect(lab.near.find(place)).toBeUndefined();
    expect(lab.near.lifeOf(undefined)).toBe(TTL);
    expect(lab.near.lifeOf(Infinity)).toBe(TTL);
    expect(lab.near.lifeOf(5)).toBe(5);
    expect(lab.near.lifeOf(0)).toBe(0);
    expect(new Lab({}, false).near.lifeOf(undefined)).toBe(0);
    expect(new Lab({}, false).near.lifeOf(Infinity)).toBe(TTL);
  });

  it('believes none while messages may be missing, and the same ones again when it is proven that none was', () => {
    const lab = new Lab();
    const place = lab.put('a');
    lab.time += MAX_LAG - 1;
    expect(lab.near.find(place)).toBeDefined();
    lab.time += 1;
    expect(lab.near.find(place)).toBeUndefined();
    lab.told = lab.time;
    expect(lab.near.find(place)).toBeDefined();
  });

  it('makes no copy of what was read while messages may have been missing', () => {
    const lab = new Lab();
    lab.time += MAX_LAG;
    const place = lab.put('a');
    lab.told = lab.time;
    expect(lab.near.find(place)).toBeUndefined();

    const fill = lab.near.begin('b');
    lab.time += MAX_LAG;
    lab.near.end('b', fill, lab.entry('b'), TTL);
    lab.told = lab.time;
    expect(lab.near.find('b')).toBeUndefined();
  });

  it.each([
    ['a change of the key', (lab: Lab, place: string) => void lab.near.heed({ kind: 'entry', place })],
    ['a gap', (lab: Lab) => void lab.near.heed({ kind: 'gap' })],
    ['a change made here', (lab: Lab, place: string) => lab.near.drop(place)],
    ['a change of everything made here', (lab: Lab) => lab.near.dropAll()],
  ])('drops a copy, and keeps reads under way from becoming one, on %s', (_what, change) => {
    const lab = new Lab();
    const place = lab.put('a');
    const [one, other] = [lab.near.begin(place), lab.near.begin(place)];
    change(lab, place);
    expect(lab.near.find(place)).toBeUndefined();
    lab.near.end(place, one, lab.entry('a'), TTL);
    const later = lab.near.begin(place);
    lab.near.end(place, other, lab.entry('a'), TTL);
    expect(lab.near.find(place)).toBeUndefined();
    lab.near.end(place, later, lab.entry('a'), TTL);
    expect(lab.near.find(place)).toBeDefined();
  });

  it('leaves others alone when one changes', () => {
    const lab = new Lab();
    const [a, b] = [lab.put('a'), lab.put('b')];
    lab.near.heed({ kind: 'entry', place: a });
    expect(lab.near.find(b)).toBeDefined();
  });

  it('makes no copy of nothing, nor of what a tag has made stale', () => {
    const lab = new Lab();
    lab.near.end('a', lab.near.begin('a'), undefined, TTL);
    lab.near.end('b', lab.near.begin('b'), { ...lab.entry('b'), softened: true }, TTL);
    expect(lab.near.stats.entries).toBe(0);
  });

  it('keeps so many entries, the least recently used first out', () => {
    const lab = new Lab();
    const [a, b] = [lab.put('a'), lab.put('b'), lab.put('c')];
    lab.near.find(a);
    lab.put('d');
    expect(lab.near.find(a)).toBeDefined();
    expect(lab.near.find(b)).toBeUndefined();
    expect(lab.near.stats.entries).toBe(3);
  });

  it('keeps so many bytes, and nothing that alone is more', () => {
    const lab = new Lab({ maxEntries: 100, maxBytes: 40_000 });
    for (let i = 0; i < 50; i++) lab.put(`k${i}`, { payload: text(2_500) });
    expect(lab.near.stats.bytes).toBeLessThanOrEqual(40_000);
    // Each takes four times its bytes and some hundreds: a fourth one would not fit.
    expect(lab.near.stats.entries).toBe(3);
    const place = lab.put('big', { payload: text(45_000) });
    expect(lab.near.find(place)).toBeUndefined();
  });

  it('counts an entry up to 64 KiB four times, as its parsed value may be kept, and a longer one once', () => {
    const taken = (length: number) => {
      const lab = new Lab({ maxBytes: 1_000_000 });
      lab.put('a', { payload: text(length) });
      return lab.near.stats.bytes;
    };
    const beside = taken(10_000) - 40_000;
    expect(beside).toBeGreaterThan(0);
    expect(beside).toBeLessThan(1_000);
    expect(taken(65_536)).toBe(4 * 65_536 + beside);
    expect(taken(65_537)).toBe(65_537 + beside);
    expect(taken(99_000)).toBe(99_000 + beside);
  });

  it('keeps no more beside the bytes than it counts', () => {
    const lab = new Lab({ maxBytes: 1_000_000 });
    const parsings = (length: number) => {
      const place = lab.put('a', { payload: text(length) });
      const parse = jest.spyOn(JSON, 'parse');
      for (let i = 0; i < 5; i++) lab.near.find(place)?.payload.read(PLAIN);
      const { length: times } = parse.mock.calls;
      parse.mockRestore();
      return times;
    };
    // Read twice, it is kept; what is never kept is parsed for each reader.
    expect(parsings(65_536)).toBe(2);
    expect(parsings(65_537)).toBe(5);
  });

  it('owns its bytes where a reply is a slice of much more', () => {
    const lab = new Lab();
    const entry = lab.entry('a');
    const chunk = Buffer.alloc(65_536);
    entry.payload.bytes.copy(chunk);
    const payload = Object.assign(
      Object.create(Object.getPrototypeOf(entry.payload) as object) as object,
      entry.payload,
      {
        bytes: chunk.subarray(0, entry.payload.bytes.length),
      },
    ) as StoredEntry['payload'];
    lab.near.end('a', lab.near.begin('a'), { ...entry, payload }, TTL);
    const kept = lab.near.find('a')?.payload.bytes;
    chunk.fill(0);
    expect(kept?.toString()).toBe('{"a":1}');
    expect(kept?.buffer.byteLength).toBe(kept?.length);
  });
});
