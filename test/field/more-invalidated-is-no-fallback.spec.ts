import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { deferred } from '../support/deferred.js';
import { until } from '../support/until.js';
import type { App } from './support/app.js';
import { field } from './support/field.js';

const here = field();

let isDown = false;

@Injectable()
class Prices {
  loads = 0;
  @Cached({ ttl: '1h', stale: '1h', staleIfError: '2h', failureBackoff: 0, tags: ['prices'] })
  async find(id: number): Promise<string> {
    this.loads += 1;
    if (isDown) throw new Error('the source is down');
    return `price of ${id}`;
  }
}

type Change = readonly [what: string, change: (app: App) => Promise<void>];

const HARD: readonly Change[] = [
  ['invalidate', ({ cache }) => cache.of(Prices, 'find').invalidate(1)],
  ['invalidate, held off', ({ cache }) => cache.of(Prices, 'find').invalidate(1, { holdOff: '1m' })],
  ['invalidateTags', ({ cache }) => cache.invalidateTags('prices')],
  ['clear of the method', ({ cache }) => cache.of(Prices, 'find').clear()],
  ['clear', ({ cache }) => cache.clear()],
];
const SOFT: readonly Change[] = [
  ['expire', ({ cache }) => cache.of(Prices, 'find').expire(1)],
  ['expireTags', ({ cache }) => cache.expireTags('prices')],
];

async function start() {
  isDown = false;
  const apps = [await here.app({ providers: [Prices] }), await here.app({ providers: [Prices] })] as const;
  for (const app of apps) expect(await app.get(Prices).find(1)).toBe('price of 1');
  isDown = true;
  const ask = (app: App) =>
    app
      .get(Prices)
      .find(1)
      .catch((error: Error) => error.message);
  return { apps, ask };
}

describe('A fail-safe window, and a source that is down', () => {
  it.each(HARD)('does not bring back what was dropped: %s', async (_, change) => {
    const { apps, ask } = await start();
    await change(apps[0]);
    expect(await ask(apps[0])).toBe('the source is down');
    await until(async () => (await ask(apps[1])) === 'the source is down', {
      what: 'the other process to know',
    });
    for (const app of apps) for (let i = 0; i < 3; i++) expect(await ask(app)).toBe('the source is down');
    isDown = false;
    for (const app of apps) expect(await ask(app)).toBe('price of 1');
  });

  it.each(SOFT)('goes on with what was only expired, everywhere: %s', async (_, change) => {
    const { apps, ask } = await start();
    await change(apps[0]);
    for (const app of apps) for (let i = 0; i < 3; i++) expect(await ask(app)).toBe('price of 1');
    const loads = () => apps.reduce((sum, app) => sum + app.get(Prices).loads, 0);
    // It was tried, though.
    await until(async () => (await Promise.all(apps.map(ask))) && loads() > 1, { what: 'a refresh' });
  });

  it('a dropped value stays dropped when it is expired afterwards', async () => {
    const { apps, ask } = await start();
    for (const [, change] of [...HARD.slice(2, 3), ...SOFT]) await change(apps[0]);
    expect(await ask(apps[0])).toBe('the source is down');
    await until(async () => (await ask(apps[1])) === 'the source is down');
    expect(await here.entries()).toHaveLength(1);
  });

  it('with softTimeout: who waits for a slow source is not given what was dropped', async () => {
    const app = await here.app();
    const policy = { ttl: '1h', stale: 0, staleIfError: '1h', softTimeout: '20ms', tags: ['t'] } as const;
    await app.cache.set('k', 'old', policy);
    await app.cache.invalidateTags('t');
    const source = deferred<string>();
    const asked = app.cache.getOrLoad('k', () => source.promise, policy);
    let answer: string | undefined;
    void asked.then((value) => (answer = value));
    const since = performance.now();
    await until(() => performance.now() > since + 80, { what: 'softTimeout to pass' });
    expect(answer).toBeUndefined();
    source.resolve('new');
    expect(await asked).toBe('new');
  });
});
