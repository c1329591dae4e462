import type { EntryKey } from '../../../lib/core/keys/index.js';
import type { AcquireReply, AcquireRequest, Store } from '../../../lib/core/store.js';
import type { Process } from '../../contract/cache/lab.js';
import { deferred } from '../../support/deferred.js';
import { ForwardingStore } from '../../support/forwarding-store.js';
import { Origin } from '../../support/origin.js';
import { MemoryLab } from './memory-lab.js';
import { stateOf } from './state-of.js';

const rejections: unknown[] = [];
const onRejection = (reason: unknown): void => void rejections.push(reason);

describe('hazards of the core', () => {
  let lab: MemoryLab;

  beforeAll(() => void process.on('unhandledRejection', onRejection));
  afterAll(() => void process.off('unhandledRejection', onRejection));
  beforeEach(() => {
    lab = new MemoryLab();
    rejections.length = 0;
  });

  const waiting = async (a: Process, times = 1): Promise<void> => {
    await lab.fake.settle();
    expect(a.types().filter((type) => type === 'wait.start').length).toBeGreaterThanOrEqual(times);
  };

  describe('readers beside a forced or strict load', () => {
    it('are served the fresh entry although a forced load runs', async () => {
      const a = await lab.process();
      await a.set('k', 'cached');
      const origin = new Origin();
      const forced = a.get('k', origin.load, {}, { fresh: true });
      await origin.started(1);
      const plain = await stateOf(lab, a.entry('k', origin.load));
      await origin.give('new');
      await forced;

      expect(plain).toMatchObject({ value: { value: 'cached', outcome: 'fresh' } });
    });

    it('do not fail with a forced load that fails', async () => {
      const a = await lab.process();
      await a.set('k', 'cached');
      const origin = new Origin();
      const forced = a.get('k', origin.load, {}, { fresh: true }).catch(() => undefined);
      await origin.started(1);
      const plain = a.get('k', origin.load);
      await lab.fake.settle();
      await origin.fail(new Error('down'));
      await forced;

      expect(await stateOf(lab, plain)).toEqual({ value: 'cached' });
    });

    it('are served stale at once although a strict caller waits', async () => {
      const a = await lab.process();
      const policy = { ttl: 50, stale: 60_000 };
      await a.get('k', () => 'v1', policy);
      await lab.fake.advance(60);
      const origin = new Origin();
      const strict = a.get('k', origin.load, policy, { maxStale: 0 });
      await origin.started(1);
      const plain = await stateOf(lab, a.entry('k', origin.load, policy));
      await origin.give('v2');
      await strict;

      expect(plain).toMatchObject({ value: { value: 'v1', outcome: 'stale' } });
    });
  });

  describe("another caller's abort", () => {
    it('of a queued leader leaves a joiner of the same tick alone', async () => {
      const a = await lab.process({ loads: { concurrency: 1 } });
      const [busy, origin] = [new Origin(), new Origin()];
      const first = a.get('busy', busy.load);
      await busy.started(1);
      const controller = new AbortController();
      const leader = a.get('k', origin.load, {}, { signal: controller.signal }).catch(() => undefined);
      await lab.fake.settle();
      controller.abort(new Error('client gone'));
      const innocent = a.get('k', origin.load);
      await lab.fake.settle();
      await busy.give('b');
      await Promise.all([first, leader]);
      const state = stateOf(lab, innocent);
      await lab.fake.settle();
      if (origin.running > 0) await origin.give('v');

      expect(await state).toBe('pending');
      expect(await innocent).toBe('v');
    });

    it('does not reach the shared load over `with({ signal })`', async () => {
      const a = await lab.process();
      const [inner, controller] = [new Origin(), new AbortController()];
      const outer = (): Promise<unknown> => a.get('inner', inner.load);
      const leader = a.cache.requests
        .with({ signal: controller.signal }, () => a.get('outer', outer))
        .catch(() => undefined);
      await inner.started(1);
      const innocent = a.get('outer', outer);
      controller.abort(new Error('client gone'));
      await leader;
      await lab.fake.settle();
      const state = stateOf(lab, innocent);
      await inner.give('v');

      expect(await state).not.toHaveProperty('error');
      expect(await innocent).toBe('v');
    });
  });

  describe('waiting for another process', () => {
    it('is not shed because slots here are busy meanwhile', async () => {
      const [a, b] = [await lab.process({ loads: { concurrency: 1 } }), await lab.process()];
      const [theirs, busy] = [new Origin(), new Origin()];
      const lead = b.get('k', theirs.load);
      await theirs.started(1);
      const call = a.get('k', () => 'mine');
      await waiting(a);
      const other = a.get('busy', busy.load);
      await busy.started(1);
      call.catch(() => undefined);
      await lab.fake.advance(2_500);
      const late = await stateOf(lab, call);
      await theirs.give('v');
      await busy.give('b');
      await Promise.all([lead, other]);

      expect(late).toBe('pending');
      expect(await call).toBe('v');
    });

    it('a nested joiner lends its slot when the flight comes back for one', async () => {
      const [a, b] = [await lab.process({ loads: { concurrency: 1 } }), await lab.process()];
      const theirs = new Origin();
      const lead = b.get('b', theirs.load).catch(() => undefined);
      await theirs.started(1);
      const outer = a.get('b', () => 'mine').catch((error: unknown) => error);
      await waiting(a);
      const nests = a.get('a', async () => `a of ${String(await a.get('b', () => 'mine'))}`);
      nests.catch(() => undefined);
      await lab.fake.settle();
      await b.invalidate('b');
      await lab.fake.advance(1_200);
      const state = await stateOf(lab, nests);
      await theirs.give('old');
      await lead;

      expect(state).toEqual({ value: 'a of mine' });
      expect(await outer).toBe('mine');
    });

    it('a nested call that joined waits a second at most for a foreign lease', async () => {
      const [a, b] = [await lab.process(), await lab.process()];
      const theirs = new Origin();
      const lead = b.get('b', theirs.load);
      await theirs.started(1);
      const outer = a.get('b', () => 'mine');
      await waiting(a);
      const nests = a.get('a', async () => `a of ${String(await a.get('b', () => 'mine'))}`);
      await lab.fake.settle();
      await lab.fake.advance(1_500);
      const state = await stateOf(lab, nests);
      await theirs.give('theirs');
      await Promise.all([lead, outer, nests]);

      expect(state).toEqual({ value: 'a of mine' });
    });

    it('stops polling when the caller has gone', async () => {
      const held = { probe: deferred(), hold: false };
      let probes = 0;
      class NoPush extends ForwardingStore {
        override pushUp(): boolean {
          return false;
        }
        override async acquire(key: EntryKey, request: AcquireRequest): Promise<AcquireReply> {
          const reply = await super.acquire(key, request);
          if (request.mode === 'probe') {
            probes += 1;
            if (held.hold) await held.probe.promise;
          }
          return reply;
        }
      }
      const [a, b] = [await lab.process({}, (store) => new NoPush(store)), await lab.process()];
      const theirs = new Origin();
      const lead = b.get('k', theirs.load);
      await theirs.started(1);
      const controller = new AbortController();
      const call = a.get('k', () => 'mine', {}, { signal: controller.signal }).catch(() => undefined);
      await waiting(a);
      held.hold = true;
      await lab.fake.advance(30);
      expect(probes).toBe(1);
      controller.abort();
      await call;
      held.hold = false;
      held.probe.resolve();
      await lab.fake.advance(5_000);
      const after = probes;
      await theirs.give('v');
      await lead;

      expect(after).toBe(1);
    });

    it('negative errors stay answers for those who waited', async () => {
      class NotFound extends Error {}
      const [a, b] = [await lab.process(), await lab.process()];
      const policy = {
        negativeErrors: NotFound,
        errors: [NotFound],
        negativeTtl: 0,
        fallback: () => 'fallback',
      } as const;
      const origin = new Origin();
      const lead = stateOf(lab, a.get('k', origin.load, policy as never));
      await origin.started(1);
      const waits = b.entry('k', origin.load, policy as never);
      await waiting(b);
      await origin.fail(new NotFound('no 7'));

      await lead;
      expect(await stateOf(lab, waits)).toEqual({ error: 'Error: no 7' });
    });
  });

  describe('cycles', () => {
    it('are found although one of two parallel nested callers left', async () => {
      const a = await lab.process();
      const [gate, controller] = [deferred(), new AbortController()];
      const loadB = async (): Promise<unknown> => {
        await gate.promise;
        return a.get('a', () => 'never');
      };
      const outer = a.get('a', async () => {
        const left = a.get('b', loadB, {}, { signal: controller.signal }).catch(() => undefined);
        const right = a.get('b', loadB);
        await left;
        return right;
      });
      // Led from outside, so that the load of b is not inside that of a.
      await lab.fake.settle();
      controller.abort();
      await lab.fake.settle();
      gate.resolve();
      const state = await stateOf(lab, outer);
      await lab.fake.advance(31_000);
      await stateOf(lab, outer);

      expect(state).toMatchObject({ error: expect.stringContaining('ReentrantLoadError') as unknown });
    });

    it('are found over a flight that was led from outside and left once', async () => {
      const a = await lab.process();
      const [gate, controller] = [deferred(), new AbortController()];
      const leadsB = a.get('b', async () => {
        await gate.promise;
        return a.get('a', () => 'never');
      });
      await lab.fake.settle();
      const outer = a.get('a', async () => {
        const left = a.get('b', () => 'x', {}, { signal: controller.signal }).catch(() => undefined);
        const right = a.get('b', () => 'x');
        await left;
        return right;
      });
      await lab.fake.settle();
      controller.abort();
      await lab.fake.settle();
      gate.resolve();
      const states = [await stateOf(lab, outer), await stateOf(lab, leadsB)];
      await lab.fake.advance(31_000);
      await Promise.all([stateOf(lab, outer), stateOf(lab, leadsB)]);

      expect(states).not.toContain('pending');
    });

    it("are found over a load of onWaitTimeout: 'load'", async () => {
      const [a, b] = [await lab.process(), await lab.process()];
      const [theirs, gate] = [new Origin(), deferred()];
      const lead = b.get('b', theirs.load, { loadTimeout: 600_000 });
      await theirs.started(1);
      const policy = { waitTimeout: 60, onWaitTimeout: 'load' } as const;
      const loadB = (): Promise<unknown> => a.get('a', () => 'never');
      const first = a.get('a', async () => {
        await gate.promise;
        return a.get('b', loadB, policy);
      });
      first.catch(() => undefined);
      await lab.fake.settle();
      const second = a.get('b', loadB, policy);
      second.catch(() => undefined);
      await waiting(a);
      await lab.fake.advance(80);
      gate.resolve();
      await lab.fake.settle();
      await lab.fake.advance(2_000);
      const states = [await stateOf(lab, first), await stateOf(lab, second)];
      await lab.fake.advance(31_000);
      await theirs.give('v');
      await lead;
      await Promise.all([stateOf(lab, first), stateOf(lab, second)]);

      expect(states).not.toContain('pending');
    });

    it('and slots are seen inside a lazy thenable', async () => {
      const a = await lab.process();
      let inside: unknown;
      const lazy = {
        // oxlint-disable-next-line unicorn/no-thenable -- a lazy query builder is one
        then: (resolve: (value: string) => void) => {
          inside = a.cache.currentLoad();
          resolve('v');
        },
      };
      await a.get('k', () => lazy);

      expect(inside).toBeDefined();
    });
  });

  describe('fresh: true', () => {
    it("with coordinate: 'process' takes no load begun before it", async () => {
      const a = await lab.process();
      const policy = { coordinate: 'process' } as const;
      const origin = new Origin();
      const first = a.get('k', origin.load, policy, { fresh: true });
      await origin.started(1);
      const second = a.get('k', origin.load, policy, { fresh: true });
      await lab.fake.settle();
      await origin.give('before');
      await first;
      const state = await stateOf(lab, second);
      if (origin.running > 0) await origin.give('after');
      await second;

      expect(state).toBe('pending');
      expect(origin.starts).toBe(2);
    });

    it('does not fail with the error of a load begun before it', async () => {
      const a = await lab.process();
      const [before, after] = [new Origin(), new Origin()];
      const plain = a.get('k', before.load).catch(() => undefined);
      await before.started(1);
      const fresh = a.get('k', after.load, {}, { fresh: true });
      await waiting(a);
      await before.fail(new Error('old failure'));
      await plain;
      const state = await stateOf(lab, fresh);
      if (after.running > 0) await after.give('v');
      await stateOf(lab, fresh);

      expect(state).toBe('pending');
    });
  });

  describe('values', () => {
    const serializer = (name: string) => ({
      name,
      encode: (value: unknown) => Buffer.from(JSON.stringify(value)),
      decode: (bytes: Uint8Array): unknown => JSON.parse(Buffer.from(bytes).toString()),
    });

    it('of a joined load under another serializer are a miss, not an error', async () => {
      const a = await lab.process();
      const origin = new Origin();
      const leader = a.get('k', origin.load, { serializer: serializer('one') });
      await origin.started(1);
      const joiner = a.get('k', () => 'own', { serializer: serializer('two') });
      await lab.fake.settle();
      await origin.give('v');
      await leader;

      expect(await stateOf(lab, joiner)).toEqual({ value: 'own' });
    });

    it("are each caller's own also where a serializer hands its bytes through", async () => {
      const a = await lab.process();
      const policy = {
        serializer: {
          name: 'raw',
          encode: (value: unknown) => value as Uint8Array,
          decode: (bytes: Uint8Array): unknown => bytes,
        },
      };
      await a.get('k', () => Buffer.from('good'), policy);
      const mine = (await a.get('k', () => Buffer.from('x'), policy)) as Buffer;
      mine.fill(0x21);
      const next = (await a.get('k', () => Buffer.from('x'), policy)) as Buffer;

      expect(Buffer.from(next).toString()).toBe('good');
    });

    it('with a ttl of centuries are cached', async () => {
      const a = await lab.process();
      for (const ttl of [1e13, 1e15, Number.MAX_SAFE_INTEGER, 1e22]) {
        let loads = 0;
        const load = (): string => ((loads += 1), 'v');
        for (let i = 0; i < 3; i++) await a.get(`k${ttl}`, load, { ttl });
        expect({ ttl, loads }).toEqual({ ttl, loads: 1 });
      }
    });
  });

  describe('a refresh', () => {
    it('whose value is uncacheable is not silent', async () => {
      class Entity {
        id = 1;
      }
      const a = await lab.process();
      const policy = { ttl: 50, stale: 60_000 };
      await a.get('k', () => 'v1', policy);
      await lab.fake.advance(60);
      await a.get('k', () => new Entity(), policy);
      await lab.fake.settle();

      expect(lab.warnings.join('\n')).toContain('Entity');
    });

    it('whose value is uncacheable rests like one that failed', async () => {
      class Entity {
        id = 1;
      }
      const a = await lab.process();
      const policy = { ttl: 50, stale: 60_000 };
      await a.get('k', () => 'v1', policy);
      await lab.fake.advance(60);
      let loads = 0;
      for (let i = 0; i < 20; i++) {
        await a.get('k', () => ((loads += 1), new Entity()), policy);
        await lab.fake.advance(10);
      }

      expect(loads).toBe(1);
    });

    it("that fails rests with coordinate: 'process' too", async () => {
      const a = await lab.process();
      const policy = { ttl: 50, stale: 60_000, coordinate: 'process' } as const;
      await a.get('k', () => 'v1', policy);
      await lab.fake.advance(60);
      let loads = 0;
      for (let i = 0; i < 20; i++) {
        await a.get('k', () => ((loads += 1), Promise.reject(new Error('down'))), policy);
        await lab.fake.advance(10);
      }

      expect(loads).toBe(1);
    });

    it('that finds "not found" with negativeTtl 0 ends the stale positive', async () => {
      const a = await lab.process();
      const policy = { ttl: 50, stale: 60_000, negativeTtl: 0 };
      await a.get('k', () => 'v1', policy);
      await lab.fake.advance(60);
      await a.get('k', () => null, policy);
      await lab.fake.advance(10);

      expect(await a.get('k', () => null, policy)).toBeNull();
    });
  });

  describe('what users throw', () => {
    it('in a listener changes nothing, whatever it is', async () => {
      const a = await lab.process();
      a.cache.listen((event) => {
        if (event.type === 'load.start') throw Object.create(null);
      });

      expect(
        await stateOf(
          lab,
          a.get('k', () => 'v'),
        ),
      ).toEqual({ value: 'v' });
    });

    it('in a listener leaves no lease that is renewed for ever', async () => {
      const a = await lab.process();
      a.cache.listen((event) => {
        if (event.type === 'load.start') throw Object.create(null);
      });
      await stateOf(
        lab,
        a.get('k', () => 'v'),
      );
      await lab.fake.advance(60_000);

      expect((await a.inspect('k'))?.lease).toBeUndefined();
      expect(a.cache.stats().active).toMatchObject({ slots: 0, callers: 0 });
    });

    it('in a listener by a rejection is no unhandled rejection', async () => {
      const a = await lab.process();
      a.cache.listen(() => Promise.reject(Object.create(null) as Error));
      await a.get('k', () => 'v');
      await lab.fake.settle();

      expect(rejections).toEqual([]);
    });

    it('while a result is planned leaves no lease behind', async () => {
      const a = await lab.process();
      class Odd extends Error {
        constructor() {
          super('odd');
          Object.defineProperty(this, 'own', {
            enumerable: true,
            get: () => {
              throw new Error('getter');
            },
          });
        }
      }
      const call = a.get('k', () => Promise.reject(new Odd()), { errors: [Odd] });

      expect(await stateOf(lab, call)).toEqual({ error: 'Error: odd' });
      expect(await a.inspect('k')).toBeNull();
      expect(rejections).toEqual([]);
    });

    it.each([[undefined], [null], ['text'], [Object.freeze(new Error('frozen'))], [Symbol('s')], [0]])(
      'reaches every caller as it is: %p',
      async (thrown) => {
        const a = await lab.process();
        const origin = new Origin();
        const calls = [a.get('k', origin.load), a.get('k', origin.load)];
        await origin.fail(thrown);
        const settled = await Promise.allSettled(calls);

        expect(settled.map((one) => (one.status === 'rejected' ? one.reason : 'ok') as unknown)).toEqual([
          thrown,
          thrown,
        ]);
        expect(await a.inspect('k')).toBeNull();
        expect(rejections).toEqual([]);
      },
    );
  });

  describe('a slow store', () => {
    it('costs redisTimeout once, also when acquire says hit and the read hangs', async () => {
      let reads = 0;
      class SlowReads extends ForwardingStore {
        override async read(key: EntryKey): ReturnType<Store['read']> {
          reads += 1;
          if (reads === 1) return null;
          return new Promise(() => undefined);
        }
      }
      const [a, b] = [await lab.process({ redisTimeout: 100 }, (s) => new SlowReads(s)), await lab.process()];
      await b.set('k', 'v');
      const call = a.get('k', () => 'mine');
      await lab.fake.advance(250);
      const state = await stateOf(lab, call);
      await lab.fake.advance(2_000);
      await stateOf(lab, call);

      expect({ state, reads }).toEqual({ state: { value: 'mine' }, reads: 2 });
    });

    it('is no reason for a WaitTimeoutError', async () => {
      class SlowAcquire extends ForwardingStore {
        override async acquire(): Promise<AcquireReply> {
          return new Promise(() => undefined);
        }
      }
      const a = await lab.process({ redisTimeout: 100 }, (s) => new SlowAcquire(s));
      const call = a.get('k', () => 'v', { waitTimeout: 50 });
      call.catch(() => undefined);
      await lab.fake.advance(150);

      expect(await stateOf(lab, call)).toEqual({ value: 'v' });
    });
  });

  describe('the guard', () => {
    it('lets parallel nested loads take turns on their slot with queue: 0', async () => {
      const a = await lab.process({ loads: { concurrency: 1, queue: 0 } });
      const call = a.get('a', async () =>
        Promise.all([a.get('b', async () => 'b'), a.get('c', async () => 'c')]),
      );

      expect(await stateOf(lab, call)).toEqual({ value: ['b', 'c'] });
    });
  });
});
