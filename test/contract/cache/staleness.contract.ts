import { Origin } from '../../support/origin.js';
import { until } from '../../support/until.js';
import { errorOf, type Subject } from './subject.js';

export function stalenessContract(subject: () => Subject): void {
  describe('soft and hard life', () => {
    it('serves a fresh value without loading', async () => {
      const a = await subject().process();
      await a.get('k', () => 'v1');
      const second = await a.entry('k', () => 'v2');

      expect(second).toMatchObject({ value: 'v1', outcome: 'fresh', staleFor: 0 });
    });

    it('counts the ttl from the end of the load', async () => {
      const s = subject();
      const a = await s.process();
      const origin = new Origin();
      const first = a.get('k', origin.load, { ttl: 400 });
      await origin.started(1);
      await s.lab.advance(300);
      await origin.give('v');
      await first;

      const { freshFor = 0, storedFor = 0 } = (await a.inspect('k')) ?? {};
      expect(freshFor).toBeGreaterThan(300);
      expect(freshFor).toBeLessThanOrEqual(400);
      expect(storedFor).toBeGreaterThan(300);
      expect(storedFor).toBeLessThanOrEqual(400);
    });

    it('never serves past ttl without a stale window', async () => {
      const s = subject();
      const a = await s.process();
      const policy = { ttl: 60, stale: 0 };
      await a.get('k', () => 'v1', policy);
      await s.lab.advance(65);

      expect(await a.get('k', () => 'v2', policy)).toBe('v2');
      await s.lab.advance(65);
      expect(await errorOf(a.get('k', () => Promise.reject(new Error('down')), policy))).toMatchObject({
        message: 'down',
      });
    });

    it('serves a stale value at once to everybody, while one process refreshes it', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const policy = { ttl: 60, stale: 60_000 };
      await a.get('k', () => 'v1', policy);
      await s.lab.advance(70);
      const origin = new Origin();
      const answers = await Promise.all([a, a, a, b, b, b].map((one) => one.entry('k', origin.load, policy)));
      await origin.started(1);

      expect(new Set(answers.map(({ value, outcome }) => `${String(value)} ${outcome}`))).toEqual(
        new Set(['v1 stale']),
      );
      expect(answers[0]?.staleFor).toBeGreaterThan(0);
      await origin.give('v2');
      await until(async () => (await b.entry('k', origin.load, policy)).value === 'v2');
      expect(origin.starts).toBe(1);
    });

    it('lets a reader whose policy allows nothing stale wait for the refresh of another', async () => {
      const s = subject();
      const a = await s.process();
      const policy = { ttl: 60, stale: 60_000 };
      await a.get('k', () => 'v1', policy);
      await s.lab.advance(70);
      const origin = new Origin();
      expect(await a.get('k', origin.load, policy)).toBe('v1');
      await origin.started(1);
      const strict = a.entry('k', origin.load, { ttl: 60, stale: 0 });
      const strictCall = a.entry('k', origin.load, policy, { maxStale: 0 });
      await s.happened(a, 'miss', 3);
      await origin.give('v2');

      expect(await strict).toMatchObject({ value: 'v2', outcome: 'joined' });
      expect(await strictCall).toMatchObject({ value: 'v2' });
      expect(origin.starts).toBe(1);
    });
  });

  describe('a failing origin', () => {
    it('is hidden by a stale value, and rests in the whole fleet, doubling', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const policy = { ttl: 20, stale: 60_000, failureBackoff: 100 };
      await a.get('k', () => 'v1', policy);
      await s.lab.advance(25);
      let starts = 0;
      const failing = (): never => {
        starts += 1;
        throw new Error('down');
      };
      const read = async (): Promise<void> => {
        for (const one of [a, b, a, b]) expect(await one.get('k', failing, policy)).toBe('v1');
      };
      await read();
      await s.happened(a, 'load.error');
      await read();
      expect(starts).toBe(1);
      await s.lab.advance(110);
      await read();
      await until(() => starts === 2);
      await s.lab.advance(110);
      await read();
      expect(starts).toBe(2);
      await s.lab.advance(110);
      await read();
      await until(() => starts === 3);
    });

    it('refreshes at once again after a load that went well', async () => {
      const s = subject();
      const a = await s.process();
      const policy = { ttl: 20, stale: 60_000, failureBackoff: 100 };
      await a.get('k', () => 'v1', policy);
      await s.lab.advance(25);
      await a.get('k', () => Promise.reject(new Error('down')), policy);
      await s.happened(a, 'load.error');
      await s.lab.advance(110);
      await a.get('k', () => 'v2', policy);
      await until(async () => (await a.peek('k', policy))?.value === 'v2');
      await s.lab.advance(25);
      await a.get('k', () => 'v3', policy);
      await until(async () => (await a.peek('k', policy))?.value === 'v3');
    });

    it('is stood in for within staleIfError, and not after', async () => {
      const s = subject();
      const a = await s.process();
      const policy = { ttl: 50, stale: 0, staleIfError: 200, failureBackoff: 10 };
      await a.get('k', () => 'v1', policy);
      await s.lab.advance(60);
      const down = (): never => {
        throw new Error('down');
      };

      expect(await a.entry('k', down, policy)).toMatchObject({ value: 'v1', outcome: 'stale' });
      await s.lab.advance(220);
      expect(await errorOf(a.get('k', down, policy))).toMatchObject({ message: 'down' });
      expect(await a.inspect('k')).toBeNull();
    });

    it('does not stand in for those who want a fresh value', async () => {
      const s = subject();
      const a = await s.process();
      const policy = { ttl: 50, stale: 60_000 };
      await a.get('k', () => 'v1', policy);
      await s.lab.advance(60);

      const failed = errorOf(a.get('k', () => Promise.reject(new Error('down')), policy, { fresh: true }));
      expect(await failed).toMatchObject({ message: 'down' });
    });

    it('lets a joiner that has not read stand on its own read', async () => {
      const s = subject();
      const a = await s.process();
      const policy = { ttl: 50, stale: 0, staleIfError: 60_000 };
      await a.get('k', () => 'v1', policy);
      await s.lab.advance(60);
      const origin = new Origin();
      const leads = a.entry('k', origin.load, policy);
      await origin.started(1);
      const joins = a.entry('k', origin.load, policy);
      await origin.fail(new Error('down'));

      expect(await leads).toMatchObject({ value: 'v1', outcome: 'stale' });
      expect(await joins).toMatchObject({ value: 'v1', outcome: 'stale' });
    });

    it('gives way to the fallback, which is not stored', async () => {
      const a = await subject().process();
      const policy = {
        fallback: (error: unknown, key: unknown) => `${(error as Error).message} for ${String(key)}`,
      };
      const answer = await a.entry('k', () => Promise.reject(new Error('down')), policy as never);

      expect(answer).toMatchObject({ value: 'down for k', outcome: 'fallback' });
      expect(await a.inspect('k')).toBeNull();
    });
  });

  describe('a slow origin', () => {
    it('lets a caller take its own old value past softTimeout; the load is stored', async () => {
      const s = subject();
      const a = await s.process();
      const policy = { ttl: 30, stale: 0, staleIfError: 60_000, softTimeout: 50 };
      await a.get('k', () => 'v1', policy);
      await s.lab.advance(40);
      const origin = new Origin();
      const call = a.entry('k', origin.load, policy);
      await origin.started(1);
      await s.lab.advance(60);

      expect(await call).toMatchObject({ value: 'v1', outcome: 'stale' });
      await origin.give('v2');
      await until(
        async () => (await a.inspect('k'))?.age !== undefined && (await a.peek('k', policy))?.value === 'v2',
      );
    });

    it('is abandoned at loadTimeout: its signal aborts, its late value is dropped', async () => {
      const s = subject();
      const a = await s.process();
      const origin = new Origin();
      let signal: AbortSignal | undefined;
      const call = errorOf(a.get('k', (ctx) => ((signal = ctx.signal), origin.load()), { loadTimeout: 50 }));
      await origin.started(1);
      await s.lab.advance(60);

      expect(await call).toMatchObject({ code: 'LOAD_TIMEOUT' });
      expect(signal?.aborted).toBe(true);
      await until(async () => (await a.inspect('k')) === null);
      await origin.give('late');
      expect(await a.get('k', () => 'well')).toBe('well');
    });

    it('rejects those who wait in another process longer than waitTimeout', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const origin = new Origin();
      const first = a.get('k', origin.load);
      await origin.started(1);
      const second = errorOf(b.get('k', origin.load, { waitTimeout: 60 }));
      await s.waiting(b);
      await s.lab.advance(80);

      expect(await second).toMatchObject({ code: 'WAIT_TIMEOUT', statusCode: 503 });
      await origin.give('v');
      expect(await first).toBe('v');
    });

    it('lets each process load once after waitTimeout where the policy says so, unpublished', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const origin = new Origin();
      const own = new Origin();
      const first = a.get('k', origin.load);
      await origin.started(1);
      const policy = { waitTimeout: 60, onWaitTimeout: 'load' } as const;
      const rest = [b.get('k', own.load, policy), b.get('k', own.load, policy)];
      await s.waiting(b);
      await s.lab.advance(80);
      await own.give('own');

      expect(await Promise.all(rest)).toEqual(['own', 'own']);
      expect(own.starts).toBe(1);
      await origin.give('v');
      expect(await first).toBe('v');
      expect((await b.peek('k'))?.value).toBe('v');
    });

    it('keeps its lease for as long as it runs', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const origin = new Origin();
      const policy = { lease: 90 };
      const first = a.entry('k', origin.load, policy);
      await origin.started(1);
      const second = b.entry('k', origin.load, policy);
      await s.waiting(b);
      for (let i = 0; i < 10; i++) await s.lab.advance(30);
      await origin.give('v');

      expect(await first).toMatchObject({ value: 'v', outcome: 'loaded' });
      expect(await second).toMatchObject({ value: 'v', outcome: 'waited' });
      expect(origin.starts).toBe(1);
    });
  });
}
