import { LoadManyError } from '../../../lib/core/errors.js';
import { ManyOrigin, rowsOf } from '../../support/many-origin.js';
import { until } from '../../support/until.js';
import { errorOf, type Subject } from './subject.js';

/** Calls for many ids. */
export function manyContract(subject: () => Subject): void {
  describe('many ids', () => {
    it('are loaded in one call, each once, and answered in their order', async () => {
      const a = await subject().process();
      const origin = new ManyOrigin();
      const first = a.many([3, 1], origin.load);
      await origin.give(0);
      await first;
      const call = a.many([4, 3, 5, 4, 1], origin.load);
      await origin.give(1, [5]);

      expect([...(await call)]).toEqual([
        [4, 'v4'],
        [3, 'v3'],
        [1, 'v1'],
      ]);
      expect(origin.asked).toEqual([
        [3, 1],
        [4, 5],
      ]);
    });

    it('that are absent are "not found" in every process, null is a value', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const load = jest.fn(() => new Map([[1, null]]));
      expect([...(await a.many([1, 2], load))]).toEqual([[1, null]]);
      await s.happened(a, 'publish', 2);
      expect([...(await b.many([1, 2], load))]).toEqual([[1, null]]);
      expect(load).toHaveBeenCalledTimes(1);
    });

    it('of overlapping calls in two processes are loaded once each, the own ones before the others are waited for', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const [here, there] = [new ManyOrigin(), new ManyOrigin()];
      const theirs = b.many([1, 2, 3], there.load);
      await there.started(0);
      const ours = a.many([5, 3, 4, 2], here.load);
      await here.give(0);
      await s.waiting(a, 2);
      await there.give(0);

      expect(await ours).toEqual(rowsOf([5, 3, 4, 2]));
      expect(await theirs).toEqual(rowsOf([1, 2, 3]));
      expect([here.asked, there.asked]).toEqual([[[5, 4]], [[1, 2, 3]]]);
    });

    it('keep what could be had when the load of the others fails', async () => {
      const s = subject();
      const a = await s.process();
      const policy = { ttl: 40, staleIfError: 60_000 };
      await a.many([1], (ids) => rowsOf(ids), policy);
      await s.happened(a, 'publish');
      await s.lab.advance(60);
      await a.many([2], (ids) => rowsOf(ids), { ...policy, ttl: 60_000 });
      await s.happened(a, 'publish', 2);
      const down = new Error('down');
      const error = await errorOf(a.many([1, 2, 3], () => Promise.reject(down), policy));

      expect(error).toBeInstanceOf(LoadManyError);
      expect(error).toMatchObject({ code: 'LOAD_MANY', cause: down, results: rowsOf([1, 2]) });
    });

    it('are invalidated one by one, also while they are loaded together', async () => {
      const s = subject();
      const a = await s.process();
      a.name = '';
      const origin = new ManyOrigin();
      const call = a.many(['1', '2'], origin.load);
      await origin.started(0);
      await a.invalidate('2');
      await origin.give(0);
      await call;
      const next = a.many(['1', '2'], origin.load);
      (await origin.started(1)).resolve(new Map([['2', 'new']]));

      expect([...(await next).values()]).toEqual(['v1', 'new']);
      expect(origin.asked).toEqual([['1', '2'], ['2']]);
    });

    it('are reached by tags of their own', async () => {
      const s = subject();
      const a = await s.process();
      const policy = { tags: (id: number) => [`id-${id}`] };
      const load = jest.fn((ids: number[]) => rowsOf(ids));
      await a.many([1, 2, 3], load, policy);
      await s.happened(a, 'publish', 3);
      await a.cache.changes.invalidateTags(['id-2']);
      await a.many([1, 2, 3], load, policy);

      expect(load.mock.calls.map(([ids]) => ids)).toEqual([[1, 2, 3], [2]]);
    });

    it('that are stale are refreshed in one call behind the answer', async () => {
      const s = subject();
      const a = await s.process();
      const policy = { ttl: 40, stale: 60_000 };
      await a.many([1, 2, 3], (ids) => rowsOf(ids), policy);
      await s.happened(a, 'publish', 3);
      await s.lab.advance(60);
      const origin = new ManyOrigin();
      expect(await a.many([1, 2, 3], origin.load, policy)).toEqual(rowsOf([1, 2, 3]));
      (await origin.started(0)).resolve(new Map([1, 2, 3].map((id) => [id, 'new'])));

      await until(async () => {
        const rows = await a.many([1, 2, 3], origin.load, { ...policy, ttl: 60_000 });
        return [...rows.values()].every((value) => value === 'new');
      });
      expect(origin.asked[0]).toEqual([1, 2, 3]);
    });

    it('are taken over in one call from a process that gives up', async () => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const [here, there] = [new ManyOrigin(), new ManyOrigin()];
      const theirs = errorOf(b.many([1, 2, 3], there.load, { loadTimeout: 300 }));
      await there.started(0);
      const ours = a.many([1, 2, 3], here.load);
      await s.waiting(a, 3);
      await s.lab.advance(400);
      await here.give(0);

      expect(await ours).toEqual(rowsOf([1, 2, 3]));
      expect(await theirs).toMatchObject({ cause: { code: 'LOAD_TIMEOUT' } });
      expect(here.asked).toEqual([[1, 2, 3]]);
    });
  });
}
