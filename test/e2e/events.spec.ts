import { from, map, mergeMap, Subject, type Subscription } from 'rxjs';
import { filter, share, take, toArray } from 'rxjs/operators';
import { StampedeCacheModule, StampedeCacheService, type StampedeCacheEvent } from 'nestjs-stampede-cache';
import { until } from '../support/until.js';
import { boot, Lines } from './kit.js';

// A listener whose type hides that it is async, as JavaScript's are.
const rejects = (() => Promise.reject(new Error('listener'))) as () => void;

describe('events$', () => {
  let cache: StampedeCacheService;
  let lines: Lines;
  const escaped: unknown[] = [];
  const note = (error: unknown): void => void escaped.push(error);

  beforeEach(async () => {
    lines = new Lines();
    const app = await boot({ imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s' } })] }, lines);
    cache = app.get(StampedeCacheService);
    escaped.length = 0;
    process.on('uncaughtException', note);
    process.on('unhandledRejection', note);
  });

  afterEach(() => {
    process.off('uncaughtException', note);
    process.off('unhandledRejection', note);
  });

  /** RxJS throws again in a timer, Node tells of rejections after the microtasks: both are over when this resolves. */
  const settled = async () => {
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setTimeout(resolve, 0));
  };

  it('tells in order what happens', async () => {
    const seen: StampedeCacheEvent[] = [];
    const subscription = cache.events$.subscribe((event) => seen.push(event));
    await cache.getOrLoad('k', () => 1);
    await cache.getOrLoad('k', () => 1);
    await cache.invalidate('k');
    expect(seen.map(({ type }) => type)).toEqual([
      'miss',
      'load.start',
      'load.end',
      'publish',
      'hit',
      'invalidate',
    ]);
    expect(seen.every(({ key, name }) => key === ":'k'" && name === '')).toBe(true);
    subscription.unsubscribe();
    await cache.getOrLoad('k', () => 1);
    expect(seen).toHaveLength(6);
  });

  it('goes through operators, and ends where they say', async () => {
    const two = new Promise<string[]>((resolve) => {
      cache.events$
        .pipe(
          filter(({ type }) => type !== 'publish'),
          map(({ type }) => type),
          take(2),
          toArray(),
        )
        .subscribe(resolve);
    });
    await cache.getOrLoad('k', () => 1);
    expect(await two).toEqual(['miss', 'load.start']);
  });

  it.each<[string, (cache: StampedeCacheService) => Subscription]>([
    [
      'a subscriber that throws',
      ({ events$ }) =>
        events$.subscribe(() => {
          throw new Error('listener');
        }),
    ],
    [
      'an observer object that throws',
      ({ events$ }) =>
        events$.subscribe({
          next: () => {
            throw new Error('listener');
          },
        }),
    ],
    ['a subscriber that rejects', ({ events$ }) => events$.subscribe(rejects)],
    [
      'a subscriber behind pipe that throws',
      ({ events$ }) =>
        events$.pipe(map(({ type }) => type)).subscribe(() => {
          throw new Error('listener');
        }),
    ],
    [
      'a subscriber behind two pipes that rejects',
      ({ events$ }) =>
        events$
          .pipe(map(({ type }) => type))
          .pipe(filter(() => true))
          .subscribe(rejects),
    ],
    [
      'an operator that throws',
      ({ events$ }) =>
        events$
          .pipe(
            map(() => {
              throw new Error('listener');
            }),
          )
          .subscribe(),
    ],
    [
      'an operator that rejects',
      ({ events$ }) => events$.pipe(mergeMap(() => from(Promise.reject(new Error('listener'))))).subscribe(),
    ],
    [
      'an error handler that throws',
      ({ events$ }) =>
        events$
          .pipe(
            map(() => {
              throw new Error('listener');
            }),
          )
          .subscribe({
            error: () => {
              throw new Error('handler');
            },
          }),
    ],
    [
      'a shared stream whose subscriber throws',
      ({ events$ }) =>
        events$.pipe(share()).subscribe(() => {
          throw new Error('listener');
        }),
    ],
  ])('is not harmed by %s, and neither is the process', async (_, subscribe) => {
    const seen: string[] = [];
    const broken = subscribe(cache);
    const healthy = cache.events$.subscribe(({ type }) => seen.push(type));
    expect(await cache.getOrLoad('k', () => 1)).toBe(1);
    await until(() => seen.includes('publish'), { what: 'the publish' });
    await settled();
    expect(escaped).toEqual([]);
    expect(seen).toEqual(['miss', 'load.start', 'load.end', 'publish']);
    expect(lines.ofCache('warn')).toEqual([expect.stringMatching(/subscriber of events\$ failed/)]);
    broken.unsubscribe();
    healthy.unsubscribe();
  });

  it('can feed a Subject', async () => {
    const subject = new Subject<StampedeCacheEvent>();
    const seen: string[] = [];
    subject.subscribe(({ type }) => seen.push(type));
    cache.events$.subscribe(subject);
    await cache.getOrLoad('k', () => 1);
    expect(seen).toEqual(['miss', 'load.start', 'load.end', 'publish']);
  });

  it('listens to the cache only while somebody is subscribed', async () => {
    const core = (cache as unknown as { cache: { core: { listen: () => unknown } } }).cache.core;
    const listen = jest.spyOn(core, 'listen');
    await cache.getOrLoad('a', () => 1);
    expect(listen).not.toHaveBeenCalled();
    const piped = cache.events$.pipe(map(({ type }) => type));
    expect(listen).not.toHaveBeenCalled();
    const subscriptions = [piped.subscribe(), cache.events$.subscribe()];
    expect(listen).toHaveBeenCalledTimes(2);
    const events = (core as unknown as { engine: { events: { active: boolean } } }).engine.events;
    expect(events.active).toBe(true);
    for (const subscription of subscriptions) subscription.unsubscribe();
    expect(events.active).toBe(false);
  });
});
