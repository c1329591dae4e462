import { until } from '../support/until.js';
import { errorsOf, Fleet, serialsOf } from './support/fleet.js';

const PROCESSES = 5;
const CALLERS = 40;
const LEASE = 800;

let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start({ processes: PROCESSES, cache: { policy: { lease: LEASE } } });
}, 30_000);
afterAll(() => fleet.stop());

describe('FC-015: the process that loads is killed while 160 callers in four others wait', () => {
  it('one of them loads, all 160 get that value', async () => {
    const bursts = fleet.workers.list.map((worker) => worker.call('burst', 'p', CALLERS, 400));
    const ended = Promise.allSettled(bursts);
    const [leader] = await fleet.loadsBegan('p', 1);
    const waiting = async () => {
      const all = await Promise.all(fleet.workers.list.map((worker) => worker.call('stats')));
      return all.every(({ active }) => active.callers === CALLERS);
    };
    await until(waiting, { what: 'all 200 callers to wait' });
    await fleet.workers.at(leader ?? -1).kill();

    const replies = (await ended).flatMap((end) => (end.status === 'fulfilled' ? end.value : []));
    expect(replies).toHaveLength((PROCESSES - 1) * CALLERS);
    expect(errorsOf(replies)).toEqual([]);
    expect(serialsOf(replies)).toEqual([2]);
    expect(await fleet.loads('p')).toHaveLength(2);
  }, 20_000);
});
