import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { fill, sweeping, total } from './support/commands.js';
import { field, NAMESPACE } from './support/field.js';
import type { App } from './support/app.js';

const here = field();

/** 2 million in the field. */
const FOREIGN = 500_000;
/** What managed servers take away, and what walks over keys or drops all of them. */
const FORBIDDEN = '-keys -scan -flushdb -flushall -config -debug -monitor -save -bgsave';

@Injectable()
class Users {
  loads = 0;
  @Cached({ tags: (id) => ['users', `user:${id}`] })
  async find(id: number): Promise<number> {
    this.loads += 1;
    return id;
  }
}

type Change = readonly [what: string, most: number, change: (app: App) => Promise<unknown>];

const CHANGES: readonly Change[] = [
  ['invalidate', 12, ({ cache }) => cache.of(Users, 'find').invalidate(1)],
  ['invalidate, held off', 12, ({ cache }) => cache.of(Users, 'find').invalidate(1, { holdOff: '1ms' })],
  ['expire', 12, ({ cache }) => cache.of(Users, 'find').expire(1)],
  ['set', 24, ({ cache }) => cache.of(Users, 'find').set([1], 1)],
  ['invalidateTags', 8, ({ cache }) => cache.invalidateTags('users')],
  ['expireTags', 8, ({ cache }) => cache.expireTags('users')],
  ['clear of a method', 8, ({ cache }) => cache.of(Users, 'find').clear()],
  ['clear', 8, ({ cache }) => cache.clear()],
];

describe('FC-021: among half a million keys of others', () => {
  it('every change costs a handful of commands, none slow, with KEYS and SCAN forbidden', async () => {
    const rules = `on >secret ~${NAMESPACE}:* &${NAMESPACE}:* +@all ${FORBIDDEN}`;
    await here.raw.call('ACL', 'SETUSER', 'app', ...rules.split(' '));
    const { host, port } = here.redis;
    const app = await here.app({
      cache: { redis: `redis://app:secret@${host}:${port}` },
      providers: [Users],
    });
    const users = app.get(Users);
    await users.find(1);
    await fill(here.raw, 'foreign:', FOREIGN);
    await here.raw.config('SET', 'slowlog-log-slower-than', '10000');
    await here.raw.slowlog('RESET');

    const spent: Record<string, number> = {};
    for (const [what, most, change] of CHANGES) {
      await users.find(1);
      const before = users.loads;
      const counts = await here.redis.countCommands(() => change(app));
      expect([what, sweeping(counts)]).toEqual([what, []]);
      spent[what] = total(counts);
      expect([what, spent[what] <= most, spent[what]]).toEqual([what, true, spent[what]]);
      await users.find(1);
      // It did what it should, too: only `set` leaves a fresh value behind.
      expect([what, users.loads - before]).toEqual([what, what === 'set' ? 0 : 1]);
    }
    expect(await here.raw.slowlog('GET')).toEqual([]);
    expect(await here.raw.dbsize()).toBeGreaterThan(FOREIGN);
    expect(app.cache.stats().storeFailures).toBe(0);
  }, 40_000);
});
