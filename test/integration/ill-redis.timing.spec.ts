import { setTimeout as delay } from 'node:timers/promises';
import { RedisServer } from '../support/redis-server.js';
import { freePort } from '../support/free-port.js';
import { until } from '../support/until.js';
import { breakSaving, ofCaches, Patient, REDIS_TIMEOUT, Ward, type Round } from './ill-ward.js';

/** Ill for long enough for whatever would pile up, or drum. */
const ROUNDS = 6;
/** A busy machine's time, not the cache's: the exact bounds are those of the specs that run alone. */
const LONG = 3_000;
/** How many commands there may be of rounds that did not wait for Redis. */
const FEW = 100;

let ward: Ward;
const closers: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function open(...args: Parameters<typeof Ward.open>): Promise<void> {
  ward = await Ward.open(...args);
  closers.push(() => ward.close());
  await Promise.all(ward.patients.map((patient) => patient.hitsAgain()));
}

function expectWell({ wrong, loads, longest }: Round): void {
  expect(wrong).toEqual([]);
  expect(loads).toBe(1);
  expect(longest).toBeLessThan(LONG);
}

interface Course {
  /** Of what one state of illness may say. */
  readonly lines: number;
  /** How often `redis.down` is told of: once while nothing answers; a demoted master may be connected to anew. */
  readonly downs: readonly [least: number, most: number];
}

const DOWN = [1, 1] as const;
const UP = [0, 0] as const;
const ONCE_AT_MOST = [0, 1] as const;

/** Lives through an illness: rounds of calls on both caches, and what must hold of them. */
async function suffer({ lines, downs: [least, most] }: Course): Promise<void> {
  await Promise.all(
    ward.patients.map(async (patient) => {
      const before = patient.cache.warnings.length;
      const downs = patient.count('redis.down');
      for (let round = 0; round < ROUNDS; round++) {
        expectWell(await patient.round());
        expect(patient.queued).toBeLessThan(FEW);
      }
      const said = patient.cache.warnings.slice(before);
      expect(said.slice(lines)).toEqual([]);
      expect(patient.count('redis.down') - downs).toBeGreaterThanOrEqual(least);
      expect(patient.count('redis.down') - downs).toBeLessThanOrEqual(most);
    }),
  );
}

/** And is well again, by itself. */
async function recover(): Promise<void> {
  await Promise.all(
    ward.patients.map(async (patient) => {
      await patient.hitsAgain();
      expect(patient.count('redis.up')).toBe(patient.count('redis.down'));
      expect(patient.queued).toBeLessThan(FEW);
    }),
  );
}

describe('Calls get their value while Redis is', () => {
  it('killed, and hits come back after its restart', async () => {
    await open();
    await ward.server.kill();
    await suffer({ lines: 1, downs: DOWN });
    await ward.server.restart();
    await recover();
    expect(ofCaches(await ward.server.commandCounts())).toBeLessThan(FEW);
  });

  it('frozen, and nothing of what was not answered is made up for', async () => {
    await open();
    await ward.server.resetCommandCounts();
    ward.server.pause();
    await suffer({ lines: 1, downs: DOWN });
    ward.server.resume();
    await recover();
    expect(ofCaches(await ward.server.commandCounts())).toBeLessThan(FEW);
  });

  it('silent behind connections that nobody closes, while new ones would work', async () => {
    await open();
    await ward.gateway.strand();
    await suffer({ lines: 1, downs: DOWN });
    // The cache's own connection is made anew; one that was handed in is its owner's.
    const [own, handedIn] = ward.patients;
    await own?.hitsAgain();
    expectWell((await handedIn?.round()) as Round); // there are two
    expect(handedIn?.queued).toBeLessThan(FEW);
    ward.gateway.rescue();
    await recover();
  });

  it('twice as slow as a call waits', async () => {
    await open();
    ward.gateway.delayReplies(2 * REDIS_TIMEOUT);
    await suffer({ lines: 1, downs: DOWN });
    ward.gateway.delayReplies(0);
    await recover();
  });

  it('full, with noeviction', async () => {
    await open({ args: ['--maxmemory', '3mb', '--maxmemory-policy', 'noeviction'] });
    const { raw } = ward;
    const filler = 'x'.repeat(64 * 1024);
    for (let n = 0; (await raw.set(`filler-${n}`, filler).catch(() => undefined)) === 'OK'; n++);
    await suffer({ lines: 3, downs: UP });
    for (let n = 0; (await raw.del(`filler-${n}`)) === 1; n++);
    await recover();
  });

  it('read-only, as a master that was demoted', async () => {
    await open();
    const { raw } = ward;
    await raw.replicaof('127.0.0.1', await freePort());
    await suffer({ lines: 3, downs: ONCE_AT_MOST });
    const [own] = ward.patients;
    const downs = own?.count('redis.down') ?? 0;
    const end = performance.now() + 2_500;
    while (performance.now() < end) await own?.round();
    // It may look for the new master, and does not tell of each look.
    expect((own?.count('redis.down') ?? 0) - downs).toBeLessThanOrEqual(1);
    await raw.replicaof('NO', 'ONE');
    await recover();
  });

  it('loading its data', async () => {
    await open();
    const master = await RedisServer.start({ args: ['--repl-diskless-sync-delay', '0'] });
    closers.push(() => master.stop());
    const load = master.client().pipeline();
    for (let n = 0; n < 2_000; n++) load.set(`row-${n}`, n);
    await load.exec();
    const { raw } = ward;
    await raw.config('SET', 'key-load-delay', '1000');
    await raw.config('SET', 'loading-process-events-interval-bytes', '1024');
    await raw.replicaof(master.host, master.port);
    // A busy machine may need more than one attempt to load, and is well in between.
    await suffer({ lines: 8, downs: [0, 4] });
    // It refuses this too until it has loaded.
    await until(() => raw.replicaof('NO', 'ONE'), { what: 'the end of loading', every: 50 });
    await recover();
  });

  it('busy with a script of somebody else', async () => {
    await open();
    const { raw } = ward;
    // A connection made later would never be ready.
    const killer = ward.raw;
    await killer.config('SET', 'lua-time-limit', '50');
    closers.push(() => killer.script('KILL').catch(() => undefined));
    const endless = raw.eval('while true do end', 0).catch(() => undefined);
    await delay(100);
    await suffer({ lines: 5, downs: UP });
    await killer.script('KILL');
    await endless;
    await recover();
  });

  it('refusing writes because it could not save', async () => {
    await open();
    const cure = await breakSaving(ward.raw);
    closers.push(cure);
    await suffer({ lines: 3, downs: UP });
    await cure();
    await recover();
  });

  it('forgetting its scripts again and again', async () => {
    await open();
    const { raw } = ward;
    for (let round = 0; round < ROUNDS; round++) {
      await raw.script('FLUSH');
      for (const patient of ward.patients) {
        expectWell(await patient.round());
        await patient.hitsAgain();
      }
    }
    for (const { cache } of ward.patients) expect(cache.warnings).toEqual([]);
  });

  it('absent at the start, and the cache joins in when it arrives', async () => {
    const port = await freePort();
    const patients = await Promise.all([
      Patient.open('own', `redis://127.0.0.1:${port}`, false),
      Patient.open('handed-in', `redis://127.0.0.1:${port}`, true),
    ]);
    closers.push(() => Promise.all(patients.map((patient) => patient.close())));
    for (const patient of patients) for (let n = 0; n < 2; n++) expectWell(await patient.round());
    const server = await RedisServer.start({ port });
    closers.push(() => server.stop());
    await Promise.all(patients.map((patient) => patient.hitsAgain()));
    for (const patient of patients) {
      expect(patient.cache.warnings).toEqual([]);
      expect([patient.count('redis.down'), patient.count('redis.up')]).toEqual([0, 1]);
    }
    expect(ofCaches(await server.commandCounts())).toBeLessThan(FEW);
  });
});
