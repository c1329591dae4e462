import { encodeHeader } from '../../../lib/core/entry/header.js';
import type { EntryKey } from '../../../lib/core/keys/index.js';
import { INVALIDATED_TAG_LIFE, type AcquireRequest, type Store, type Wake } from '../../../lib/core/store.js';
import { createMemoryStore, type MemoryStoreOptions } from '../../../lib/memory/index.js';
import { createFakeRuntime } from '../../support/fake-runtime.js';

const EPOCH = 1_700_000_000_000;
const MINUTE = 60_000;
const key = (id: string): EntryKey => ({ id, variant: '', digest: 'digest00' });

function setup(options: Partial<MemoryStoreOptions> = {}) {
  const fake = createFakeRuntime();
  const store = createMemoryStore({ runtime: fake.runtime, epochMs: EPOCH, ...options });
  return { ...fake, store };
}

function acquire(store: Store, id: string, over: Partial<AcquireRequest> = {}) {
  const request = {
    leaseMs: MINUTE,
    holder: 'h',
    mode: 'load',
    willWait: false,
    rejectedId: '',
    waitedOn: '',
  } as const;
  return store.acquire(key(id), { ...request, hasStale: false, token: 'token', ...over });
}

async function present(store: Store, ...ids: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const id of ids) if ((await store.peek(key(id))).bytes !== null) found.push(id);
  return found;
}

/** An entry that is stale from the first. */
function entryWithId(id: string): Buffer {
  const life = { softAt: EPOCH - 1, loadStart: EPOCH - 2, bornAt: EPOCH - 1, cost: 1, ttl: 1, hard: MINUTE };
  const rest = { sourceVersion: 0, epoch: 0, tags: [], digest: 'digest00' };
  return encodeHeader({ kind: 'value', codec: 'j', id, size: 0, ...rest, ...life });
}

describe('the memory store', () => {
  describe('its time', () => {
    it('begins at the wall clock it was given and follows the monotonic clock, in whole milliseconds', async () => {
      const { store, advance } = setup();
      expect(store.now()).toBe(EPOCH);
      await advance(1_500.7);
      expect(store.now()).toBe(EPOCH + 1_500);
    });

    it('is that of one clock', () => {
      expect(setup().store.clockSkew).toBe(0);
    });

    it('begins now by default', () => {
      const before = Date.now();
      const { store } = setup({ epochMs: undefined });
      expect(store.now()).toBeGreaterThanOrEqual(before);
      expect(store.now()).toBeLessThanOrEqual(Date.now());
    });
  });

  describe('its bounds', () => {
    it('drops the entry that was read longest ago when there are too many', async () => {
      const { store } = setup({ maxEntries: 3 });
      for (const id of ['a', 'b', 'c']) await store.write(key(id), Buffer.from(id), MINUTE);
      await store.read(key('a'));
      await store.write(key('d'), Buffer.from('d'), MINUTE);

      expect(await present(store, 'a', 'b', 'c', 'd')).toEqual(['a', 'c', 'd']);
    });

    it('counts an overwritten entry once, and as used', async () => {
      const { store } = setup({ maxEntries: 2 });
      await store.write(key('a'), Buffer.from('1'), MINUTE);
      await store.write(key('b'), Buffer.from('1'), MINUTE);
      await store.write(key('a'), Buffer.from('2'), MINUTE);
      expect(await present(store, 'a', 'b')).toEqual(['a', 'b']);

      await store.write(key('c'), Buffer.from('1'), MINUTE);
      expect(await present(store, 'a', 'b', 'c')).toEqual(['a', 'c']);
    });

    it('does not take a look from outside for a use', async () => {
      const { store } = setup({ maxEntries: 2 });
      await store.write(key('a'), Buffer.from('1'), MINUTE);
      await store.write(key('b'), Buffer.from('1'), MINUTE);
      await store.peek(key('a'));
      await store.write(key('c'), Buffer.from('1'), MINUTE);

      expect(await present(store, 'a', 'b', 'c')).toEqual(['b', 'c']);
    });

    it('drops as many as needed when the bytes are too many, and gets the room of dropped ones back', async () => {
      const { store } = setup({ maxBytes: 100_000 });
      for (let round = 0; round < 50; round++) {
        await store.write(key('a'), Buffer.alloc(30_000), MINUTE);
        await store.write(key('b'), Buffer.alloc(30_000), MINUTE);
        await store.write(key('c'), Buffer.alloc(30_000), MINUTE);
        expect(await present(store, 'a', 'b', 'c')).toEqual(['a', 'b', 'c']);
        await store.invalidate(key('c'), 0);
        await store.write(key('a'), Buffer.alloc(10), MINUTE);
      }
      await store.write(key('large'), Buffer.alloc(80_000), MINUTE);
      expect(await present(store, 'a', 'b', 'large')).toEqual(['a', 'large']);
    });

    it('does not empty the store for an entry that can never fit, nor keep the one it replaces', async () => {
      const { store } = setup({ maxBytes: 10_000 });
      await store.write(key('a'), Buffer.from('1'), MINUTE);
      await store.write(key('large'), Buffer.from('small still'), MINUTE);
      await store.write(key('large'), Buffer.alloc(20_000), MINUTE);

      expect(await present(store, 'a', 'large')).toEqual(['a']);
    });

    it('never drops a lease before its time, whatever happens to the entries', async () => {
      const { store } = setup({ maxEntries: 1 });
      for (let n = 0; n < 100; n++) await acquire(store, `k${n}`, { token: `t${n}` });
      for (let n = 0; n < 100; n++) await store.write(key(`other${n}`), Buffer.from('x'), MINUTE);

      for (let n = 0; n < 100; n++) {
        expect(await store.renew(key(`k${n}`), `t${n}`, MINUTE)).toMatchObject({ held: true });
      }
    });
  });

  describe('the bytes it keeps', () => {
    it('do not pin the pool they were cut from', async () => {
      const { store } = setup();
      const slice = Buffer.alloc(1_000_000, 'x').subarray(10, 20);
      await store.write(key('a'), slice, MINUTE);

      const bytes = await store.read(key('a'));
      expect(bytes).toEqual(Buffer.from('xxxxxxxxxx'));
      expect(bytes?.buffer.byteLength).toBe(10);
    });
  });

  describe('its timer', () => {
    it('exists only while something can expire, and does not keep the process alive', async () => {
      const { store, advance, pending } = setup();
      expect(pending()).toEqual({ foreground: 0, background: 0 });
      await acquire(store, 'a', { leaseMs: 3_000 });
      await store.write(key('b'), Buffer.from('x'), 5_000);
      expect(pending()).toEqual({ foreground: 0, background: 1 });

      await advance(4_000);
      expect(pending()).toEqual({ foreground: 0, background: 1 });
      await advance(3_000);
      expect(pending()).toEqual({ foreground: 0, background: 0 });

      await store.write(key('c'), Buffer.from('x'), 5_000);
      expect(pending()).toEqual({ foreground: 0, background: 1 });
    });

    it('frees what nobody asks for any more, also in a table larger than one sweep', async () => {
      const { store, advance, pending } = setup({ maxEntries: 100_000 });
      for (let n = 0; n < 10_000; n++) await store.write(key(`k${n}`), Buffer.from('x'), 100);
      await advance(10_000);
      expect(pending()).toEqual({ foreground: 0, background: 0 });
    });

    it('leaves what still lives', async () => {
      const { store, advance } = setup();
      await store.write(key('a'), Buffer.from('x'), 500);
      await store.write(key('b'), Buffer.from('x'), MINUTE);
      await acquire(store, 'c', { leaseMs: MINUTE, token: 't' });
      await advance(10_000);

      expect(await present(store, 'a', 'b')).toEqual(['b']);
      expect(await store.renew(key('c'), 't', MINUTE)).toMatchObject({ held: true });
    });
  });

  describe('its tags', () => {
    const hards = async (store: Store, ...ids: string[]) =>
      (await store.tags(ids)).map((state) => state?.hard !== undefined);

    it('are bounded in number: the one used longest ago goes first', async () => {
      const { store } = setup({ maxTags: 3 });
      await store.holdTags(['a', 'b', 'c'], MINUTE);
      await store.holdTags(['a'], MINUTE);
      await store.invalidateTag('d', 0);
      expect(await hards(store, 'a', 'b', 'c', 'd')).toEqual([true, false, true, true]);

      await store.expireTag('c');
      await store.holdTags(['e'], MINUTE);
      expect(await hards(store, 'a', 'c', 'd', 'e')).toEqual([false, true, true, true]);
    });

    it('and variants are freed when their time is over, and then no timer is left', async () => {
      const { store, advance, pending } = setup();
      await store.holdTags(['a'], 3_000);
      await store.announce('n', '.1', 3_000);
      await store.invalidate(key('held-off'), 3_000);
      expect(pending()).toEqual({ foreground: 0, background: 1 });
      await advance(2_000);
      expect(pending()).toEqual({ foreground: 0, background: 1 });
      await advance(3_000);
      expect(pending()).toEqual({ foreground: 0, background: 0 });

      await store.invalidateTag('b', 0);
      expect(pending()).toEqual({ foreground: 0, background: 1 });
      await advance(INVALIDATED_TAG_LIFE - 1);
      expect(await hards(store, 'b')).toEqual([true]);
      await advance(2_000);
      expect(await hards(store, 'b')).toEqual([false]);
      expect(pending()).toEqual({ foreground: 0, background: 0 });
    });

    it('hand their changes over before these are done', async () => {
      const { store } = setup();
      const seen: string[] = [];
      store.watch(() => {
        throw new Error('a faulty watcher');
      });
      store.watch(({ kind }) => seen.push(kind));
      const done = store.invalidateTag('a', 0);
      expect(seen).toEqual(['tag']);
      const cleared = store.clear('x');
      expect(seen).toEqual(['tag', 'epoch']);
      await Promise.all([done, cleared]);
    });

    it('are known up to now, until the store is closed', async () => {
      const { store, runtime, advance } = setup();
      expect(store.toldUntil()).toBe(runtime.clock.now());
      await advance(100);
      expect(store.toldUntil()).toBe(runtime.clock.now());
      await store.close();
      expect(store.toldUntil()).toBe(-Infinity);
      await expect(store.invalidateTag('a', 0)).rejects.toThrow('after close()');
      await expect(store.clear('')).rejects.toThrow('after close()');
    });
  });

  describe('its epochs', () => {
    it('are bounded, too: of too many scopes none is forgotten, all count as cleared', async () => {
      const { store, advance } = setup();
      const first = await store.clear('scope 0');
      await advance(10);
      for (let n = 1; n <= 10_000; n++) await store.clear(`scope ${n}`);
      const epochs = await store.epochs();
      expect(epochs.size).toBeLessThan(10);
      expect(epochs.get('')).toBeGreaterThanOrEqual(first);
      // The last of them rose above all before it.
      expect(epochs.get('')).toBe(EPOCH + 10 + 9_999);
      expect(await store.clear('scope 0')).toBeGreaterThan(first);
    });
  });

  describe('a put that is sent again', () => {
    it('is still "stored" past its time, and leaves a lease that was granted since', async () => {
      const { store, advance } = setup();
      const id = 'an-entry'.padEnd(22, '_');
      const request = { token: id, bytes: entryWithId(id), hardMs: MINUTE, notAfter: store.now() + 100 };
      expect(await store.put(key('a'), request)).toBe('stored');
      await acquire(store, 'a', { token: 'owner' });
      await advance(200);

      expect(await store.put(key('a'), request)).toBe('stored');
      expect(await store.renew(key('a'), 'owner', MINUTE)).toMatchObject({ held: true });
    });
  });

  describe('wake-ups', () => {
    async function contended(store: Store) {
      await acquire(store, 'a', { token: 'owner' });
      await acquire(store, 'a', { token: 'waiter', willWait: true });
    }

    it('go to the other listeners though one throws, and the fault is logged', async () => {
      const { store, settle, logs } = setup();
      const seen: Wake[] = [];
      store.listen(key('a'), () => {
        throw new Error('a faulty waiter');
      });
      store.listen(key('a'), (wake) => seen.push(wake));
      await contended(store);
      await store.invalidate(key('a'), 0);
      await settle();

      expect(seen).toEqual([{ kind: 'invalidated' }]);
      expect(logs).toEqual([{ level: 'warn', message: expect.stringContaining('a faulty waiter') }]);
    });

    it('do not reach whoever listens again while it is woken', async () => {
      const { store, settle } = setup();
      let calls = 0;
      const again = (): void => {
        if (++calls < 10) store.listen(key('a'), again);
      };
      store.listen(key('a'), again);
      await contended(store);
      await store.invalidate(key('a'), 0);
      await settle();

      expect(calls).toBe(1);
    });

    it('do not reach whoever is cancelled by a listener before', async () => {
      const { store, settle } = setup();
      const seen: string[] = [];
      store.listen(key('a'), () => cancelSecond());
      const cancelSecond = store.listen(key('a'), () => seen.push('second'));
      await contended(store);
      await store.invalidate(key('a'), 0);
      await settle();

      expect(seen).toEqual([]);
    });

    it('reach a listener that came after an earlier one had gone', async () => {
      const { store, settle } = setup();
      const cancel = store.listen(key('a'), () => {});
      cancel();
      const seen: Wake[] = [];
      store.listen(key('a'), (wake) => seen.push(wake));
      cancel();
      await contended(store);
      await store.invalidate(key('a'), 0);
      await settle();

      expect(seen).toHaveLength(1);
    });
  });

  describe('close', () => {
    it('gives back the timer, wakes nobody any more and refuses further work', async () => {
      const { store, settle, pending } = setup();
      const seen: Wake[] = [];
      store.listen(key('a'), (wake) => seen.push(wake));
      await acquire(store, 'a', { token: 'owner' });
      await acquire(store, 'a', { token: 'waiter', willWait: true });
      await store.invalidate(key('a'), 0);
      await store.close();
      await settle();

      // The wake-up was on its way.
      expect(seen).toEqual([]);
      expect(pending()).toEqual({ foreground: 0, background: 0 });
      expect(store.pushUp()).toBe(false);
      await expect(store.invalidate(key('a'), 0)).rejects.toThrow('after close()');
      await expect(store.read(key('a'))).rejects.toThrow('after close()');
      expect(pending()).toEqual({ foreground: 0, background: 0 });
    });
  });
});
