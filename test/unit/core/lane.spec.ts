import { Lane, LATE } from '../../../lib/core/lane.js';
import { deferred, type Deferred } from '../../support/deferred.js';
import { createFakeRuntime, type FakeRuntime } from '../../support/fake-runtime.js';

describe('a lane', () => {
  let fake: FakeRuntime;
  let lane: Lane;
  let begun: string[];
  let jobs: Map<string, Deferred<string>>;
  beforeEach(() => {
    fake = createFakeRuntime();
    lane = new Lane(fake.runtime.timers, 2);
    begun = [];
    jobs = new Map();
  });
  afterEach(() => {
    const { foreground, background } = fake.pending();
    if (foreground + background > 0) throw new Error('a timer was left armed');
  });

  const run = (name: string, ms = 1_000): Promise<unknown> => {
    const job = deferred<string>();
    jobs.set(name, job);
    return lane.run(() => {
      begun.push(name);
      return job.promise;
    }, ms);
  };
  const end = async (name: string): Promise<void> => {
    jobs.get(name)?.resolve(`${name} is done`);
    await fake.settle();
  };

  it('runs two at once, the others in the order in which they came', async () => {
    const all = ['a', 'b', 'c', 'd'].map((name) => run(name));
    await fake.settle();
    expect(begun).toEqual(['a', 'b']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c']);
    for (const name of ['a', 'c', 'd']) await end(name);
    expect(await Promise.all(all)).toEqual(['a is done', 'b is done', 'c is done', 'd is done']);
  });

  it('does not begin what has waited too long, and goes on behind a job that hangs', async () => {
    const [a, b, c] = [run('a', 100), run('b', 100), run('c', 50)];
    await fake.advance(60);
    expect(await c).toBe(LATE);
    await fake.advance(60);
    expect(await Promise.all([a, b])).toEqual([LATE, LATE]);
    const d = run('d');
    await fake.settle();
    // Two jobs nobody waits for still run.
    expect(begun).toEqual(['a', 'b']);
    await end('a');
    expect(begun).toEqual(['a', 'b', 'd']);
    for (const name of ['b', 'd']) await end(name);
    expect(await d).toBe('d is done');
  });

  it('survives jobs that fail or throw', async () => {
    const rejected = lane.run(() => Promise.reject(new Error('failed')), 1_000);
    const thrown = lane.run(() => {
      throw new Error('thrown');
    }, 1_000);
    await expect(rejected).rejects.toThrow('failed');
    await expect(thrown).rejects.toThrow('thrown');
    const all = [run('a'), run('b')];
    await fake.settle();
    expect(begun).toEqual(['a', 'b']);
    for (const name of ['a', 'b']) await end(name);
    await Promise.all(all);
  });
});
