import { RemoteLoadError } from '../../../lib/core/errors.js';
import { Origin } from '../../support/origin.js';
import { until } from '../../support/until.js';
import { errorOf, type Subject } from './subject.js';

export function singleFlightContract(subject: () => Subject): void {
  describe('single-flight in the process', () => {
    it('loads once for 100 callers and gives each a value of its own', async () => {
      const a = await subject().process();
      const origin = new Origin();
      const calls = Array.from({ length: 100 }, () => a.entry('k', origin.load));
      await origin.give({ list: [1] });
      const answers = await Promise.all(calls);

      expect(origin.starts).toBe(1);
      expect(new Set(answers.map(({ value }) => value)).size).toBe(100);
      expect(answers.every(({ value }) => (value as { list: number[] }).list[0] === 1)).toBe(true);
      expect(answers.map(({ outcome }) => outcome).sort()).toEqual([
        ...Array<string>(99).fill('joined'),
        'loaded',
      ]);
    });

    it('gives callers of `shared: true` one frozen value', async () => {
      const a = await subject().process();
      const load = (): unknown => ({ list: [1] });
      const [first, second] = (await Promise.all([
        a.get('k', load, { shared: true }),
        a.get('k', load, { shared: true }),
      ])) as [{ list: number[] }, unknown];

      expect(second).toBe(first);
      expect(() => first.list.push(2)).toThrow(TypeError);
    });

    it('loads different keys side by side', async () => {
      const a = await subject().process({ loads: { concurrency: 200 } });
      const origin = new Origin();
      const calls = Array.from({ length: 200 }, (_, i) => a.get(`k${i}`, origin.load));
      await origin.started(200);
      for (let i = 0; i < 200; i++) await origin.give(i);

      expect((await Promise.all(calls)).length).toBe(200);
      expect(origin.peak).toBe(200);
    });

    it('gives all callers of a failing load its very error, and the next call loads again', async () => {
      const a = await subject().process();
      const origin = new Origin();
      const calls = Array.from({ length: 100 }, () => errorOf(a.get('k', origin.load)));
      const failure = new TypeError('broken');
      await origin.fail(failure);
      const errors = await Promise.all(calls);

      expect(new Set(errors)).toEqual(new Set([failure]));
      expect(origin.starts).toBe(1);
      expect(await a.inspect('k')).toBeNull();
      expect(await a.get('k', () => 'well')).toBe('well');
    });

    it('loads again for a call made while the failure is being handled', async () => {
      const a = await subject().process();
      let loads = 0;
      const load = (): string => {
        loads += 1;
        if (loads === 1) throw new Error('once');
        return 'well';
      };
      const value = await a.get('k', load).catch(() => a.get('k', load));

      expect(value).toBe('well');
      expect(loads).toBe(2);
    });
  });

  describe('one loader in the fleet', () => {
    it('lets the other process wait for the value', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const origin = new Origin();
      const first = a.entry('k', origin.load);
      await origin.started(1);
      const second = b.entry('k', origin.load);
      await s.waiting(b);
      await origin.give('v');

      expect(await first).toMatchObject({ value: 'v', outcome: 'loaded' });
      expect(await second).toMatchObject({ value: 'v', outcome: 'waited' });
      expect(origin.starts).toBe(1);
      await until(async () => (await a.inspect('k'))?.lease === undefined);
    });

    it('fails those who wait in other processes alike, without message or stack', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const origin = new Origin();
      const first = errorOf(a.get('k', origin.load));
      await origin.started(1);
      const second = errorOf(b.get('k', origin.load));
      await s.waiting(b);
      await origin.fail(Object.assign(new TypeError('secret'), { code: 'E42' }));

      expect(await first).toBeInstanceOf(TypeError);
      const remote = (await second) as RemoteLoadError;
      expect(remote).toBeInstanceOf(RemoteLoadError);
      expect(remote).toMatchObject({ remoteName: 'TypeError', remoteCode: 'E42' });
      expect(remote.message).not.toContain('secret');
      expect(origin.starts).toBe(1);
    });

    it('restores a class listed in `errors` for those who wait in other processes', async () => {
      class OutOfStock extends Error {
        override readonly name = 'OutOfStock';
        constructor(readonly sku: string) {
          super(`${sku} is out of stock`);
        }
      }
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const origin = new Origin();
      const policy = { errors: [OutOfStock] };
      const first = errorOf(a.get('k', origin.load, policy));
      await origin.started(1);
      const second = errorOf(b.get('k', origin.load, policy));
      await s.waiting(b);
      await origin.fail(new OutOfStock('A1'));

      expect(await first).toBeInstanceOf(OutOfStock);
      expect(await second).toBeInstanceOf(OutOfStock);
      expect(await second).toMatchObject({ sku: 'A1', message: 'A1 is out of stock' });
    });

    it('lets each waiting process load once, in parallel, when the value proves uncacheable', async () => {
      const s = subject();
      const [a, b, c] = [await s.process(), await s.process(), await s.process()];
      const origin = new Origin();
      const first = a.get('k', (ctx) => (ctx.skip(), origin.load()));
      await origin.started(1);
      const rest = [b, c].flatMap((one) => [one.get('k', origin.load), one.get('k', origin.load)]);
      await Promise.all([s.waiting(b), s.waiting(c)]);
      await origin.give('mine');
      await origin.started(3);
      await origin.give('theirs');
      await origin.give('theirs');

      expect(await first).toBe('mine');
      expect(await Promise.all(rest)).toEqual(['theirs', 'theirs', 'theirs', 'theirs']);
      expect(origin.starts).toBe(3);
    });

    it('hands the load to one of the waiters when its holder abandons it', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const origin = new Origin();
      const first = errorOf(a.get('k', origin.load, { loadTimeout: 60 }));
      await origin.started(1);
      const second = b.get('k', origin.load, { loadTimeout: 10_000 });
      await s.waiting(b);
      await s.lab.advance(80);

      expect(await first).toMatchObject({ code: 'LOAD_TIMEOUT', status: 503, statusCode: 503, expose: true });
      await origin.started(2);
      await origin.give('late');
      await origin.give('v');
      expect(await second).toBe('v');
      expect((await a.peek('k'))?.value).toBe('v');
    });
  });
}
