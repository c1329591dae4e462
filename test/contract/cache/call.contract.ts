import { Origin } from '../../support/origin.js';
import { until } from '../../support/until.js';
import { errorOf, type Subject } from './subject.js';

export function callContract(subject: () => Subject): void {
  describe('one call', () => {
    it('that is aborted leaves the others their value', async () => {
      const a = await subject().process();
      const origin = new Origin();
      const controller = new AbortController();
      const leader = errorOf(a.get('k', origin.load, {}, { signal: controller.signal }));
      await origin.started(1);
      const joiner = a.get('k', origin.load);
      controller.abort(new Error('client gone'));

      expect(await leader).toMatchObject({ message: 'client gone' });
      await origin.give('v');
      expect(await joiner).toBe('v');
      expect(origin.starts).toBe(1);
    });

    it('that was the last one lets the load finish and be stored', async () => {
      const a = await subject().process();
      const origin = new Origin();
      const controller = new AbortController();
      const call = errorOf(a.get('k', origin.load, {}, { signal: controller.signal }));
      await origin.started(1);
      controller.abort();
      await call;
      await origin.give('v');

      await until(async () => (await a.peek('k'))?.value === 'v');
    });

    it("that was the last one aborts the load with abandon: 'abort'", async () => {
      const a = await subject().process();
      const origin = new Origin();
      const controller = new AbortController();
      let signal: AbortSignal | undefined;
      const policy = { abandon: 'abort' } as const;
      const call = errorOf(
        a.get('k', (ctx) => ((signal = ctx.signal), origin.load()), policy, { signal: controller.signal }),
      );
      await origin.started(1);
      controller.abort();
      await call;

      await until(() => signal?.aborted === true);
      await until(async () => (await a.inspect('k')) === null);
      expect(await a.get('k', () => 'next', policy)).toBe('next');
    });

    it('never aborts a load that another process waits for', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const origin = new Origin();
      const controller = new AbortController();
      const policy = { abandon: 'abort' } as const;
      const call = errorOf(a.get('k', origin.load, policy, { signal: controller.signal }));
      await origin.started(1);
      const waiter = b.get('k', origin.load, policy);
      await s.waiting(b);
      controller.abort();
      await call;
      await origin.give('v');

      expect(await waiter).toBe('v');
      expect(origin.starts).toBe(1);
    });

    it('with fresh: true waits for a load begun after it, and shares it with others like it', async () => {
      const a = await subject().process();
      await a.set('k', 'cached');
      const origin = new Origin();
      const plain = a.get('k', origin.load);
      const fresh = [
        a.get('k', origin.load, {}, { fresh: true }),
        a.get('k', origin.load, {}, { fresh: true }),
      ];
      await origin.give('loaded');

      expect(await plain).toBe('cached');
      expect(await Promise.all(fresh)).toEqual(['loaded', 'loaded']);
      expect(origin.starts).toBe(1);
    });

    for (const where of ['this process', 'another process']) {
      it(`with fresh: true does not take a load that ${where} began before`, async () => {
        const s = subject();
        const a = await s.process();
        const other = where === 'this process' ? a : await s.process();
        const [before, after] = [new Origin(), new Origin()];
        const first = other.get('k', before.load);
        await before.started(1);
        const fresh = a.get('k', after.load, {}, { fresh: true });
        await s.waiting(a);
        // The server's clock counts in whole milliseconds.
        await s.lab.advance(2);
        await before.give('before');
        await after.give('after');

        expect(await first).toBe('before');
        expect(await fresh).toBe('after');
        expect((await a.peek('k'))?.value).toBe('after');
      });
    }

    it('with bypass goes straight to the origin and stores nothing', async () => {
      const a = await subject().process();
      await a.set('k', 'cached');

      expect(await a.entry('k', () => 'origin', {}, { bypass: true })).toMatchObject({
        value: 'origin',
        outcome: 'bypassed',
      });
      expect(await a.get('k', () => 'x')).toBe('cached');
    });
  });

  describe('calls inside loads', () => {
    it('that reach their own key fail at once', async () => {
      const a = await subject().process();
      const error = await errorOf(a.get('k', () => a.get('k', () => 'never')));

      expect(error).toMatchObject({ code: 'REENTRANT_LOAD' });
      expect(await a.inspect('k')).toBeNull();
    });

    it('that would wait for each other fail at once', async () => {
      const a = await subject().process();
      const [one, two] = [new Origin(), new Origin()];
      const first = a.get('one', async () => {
        await one.load();
        return a.get('two', () => 'never');
      });
      const second = a.get('two', async () => {
        await two.load();
        return a.get('one', () => 'never');
      });
      await Promise.all([one.started(1), two.started(1)]);
      const settled = Promise.allSettled([first, second]);
      await one.give(1);
      await two.give(2);

      const reasons = (await settled).map((result) =>
        result.status === 'rejected' ? (result.reason as { code: string }).code : 'value',
      );
      expect(reasons).toContain('REENTRANT_LOAD');
    });

    it('20 deep run on one slot', async () => {
      const a = await subject().process({ loads: { concurrency: 1, queue: 0 } });
      const deep = (level: number): Promise<unknown> =>
        a.get(`k${level}`, () => (level === 0 ? 'bottom' : deep(level - 1)));

      expect(await deep(20)).toBe('bottom');
    });

    it('side by side share the slot of the load around them', async () => {
      const a = await subject().process({ loads: { concurrency: 1 } });
      const all = a.get('all', () => Promise.all(['x', 'y', 'z'].map((key) => a.get(key, () => key))));

      expect(await all).toEqual(['x', 'y', 'z']);
      expect(a.cache.stats().active).toMatchObject({ slots: 0, queued: 0, callers: 0, flights: 0 });
    });

    it('lend their slot to a load that queues and that they wait for', async () => {
      const a = await subject().process({ loads: { concurrency: 1 } });
      const outer = new Origin();
      const first = a.get('outer', async () => {
        await outer.load();
        return a.get('inner', () => 'inner');
      });
      await outer.started(1);
      const queued = a.get('inner', () => 'inner');
      await until(() => a.cache.stats().active.queued === 1);
      await outer.give(1);

      expect(await first).toBe('inner');
      expect(await queued).toBe('inner');
    });

    it('wait a second at most for another process, then load unpublished', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const held = new Origin();
      const holder = b.get('inner', held.load);
      await held.started(1);
      const outer = a.get('outer', () => a.get('inner', () => 'own'));
      await s.waiting(a);
      await s.lab.advance(1_050);

      expect(await outer).toBe('own');
      await held.give('theirs');
      expect(await holder).toBe('theirs');
      await s.happened(b, 'publish');
      expect((await a.peek('inner'))?.value).toBe('theirs');
    });
  });

  describe('the load guard', () => {
    it('never lets more loads run than its limit, and sheds what its queue has no room for', async () => {
      const a = await subject().process({ loads: { concurrency: 2, queue: 3 } });
      const origin = new Origin();
      const calls = Array.from({ length: 8 }, (_, i) => a.get(`k${i}`, origin.load));
      const settled = Promise.allSettled(calls);
      for (let i = 0; i < 5; i++) await origin.give('v');
      const results = await settled;

      expect(origin.peak).toBe(2);
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
      const rejected = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
      expect(rejected.reason).toMatchObject({ code: 'LOAD_REJECTED', statusCode: 503, retryAfter: 1_000 });
    });

    it('sheds what waits longer than queueTimeout', async () => {
      const s = subject();
      const a = await s.process({ loads: { concurrency: 1, queueTimeout: 50 } });
      const origin = new Origin();
      const first = a.get('one', origin.load);
      await origin.started(1);
      const second = errorOf(a.get('two', origin.load));
      await until(() => a.cache.stats().active.queued === 1);
      await s.lab.advance(60);

      expect(await second).toMatchObject({ code: 'LOAD_REJECTED' });
      await origin.give('v');
      expect(await first).toBe('v');
    });

    it('counts waiting callers', async () => {
      const a = await subject().process({ loads: { waiters: 2 } });
      const origin = new Origin();
      const calls = [a.get('k', origin.load), a.get('k', origin.load)];
      await origin.started(1);

      expect(await errorOf(a.get('k', origin.load))).toMatchObject({ code: 'LOAD_REJECTED' });
      await origin.give('v');
      expect(await Promise.all(calls)).toEqual(['v', 'v']);
    });

    it('gives refreshes a quarter of the slots, behind foreground loads', async () => {
      const s = subject();
      const a = await s.process({ loads: { concurrency: 4 } });
      const policy = { ttl: 20, stale: 60_000 };
      for (let i = 0; i < 3; i++) await a.get(`k${i}`, () => 'v1', policy);
      await s.lab.advance(30);
      const origin = new Origin();
      for (let i = 0; i < 3; i++) expect(await a.get(`k${i}`, origin.load, policy)).toBe('v1');
      await origin.started(1);
      const foreground = [a.get('f0', origin.load), a.get('f1', origin.load), a.get('f2', origin.load)];
      await origin.started(4);
      expect(origin.running).toBe(4);
      expect(a.cache.stats().active.queued).toBe(2);
      for (let i = 0; i < 6; i++) await origin.give('v2');
      expect(await Promise.all(foreground)).toHaveLength(3);
    });
  });
}
