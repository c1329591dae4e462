import type { Redis } from 'ioredis';
import { RedisServer } from '../support/redis-server.js';
import { Patient } from './ill-ward.js';

let server: RedisServer;
let raw: Redis;
const closers: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  server = await RedisServer.start();
  raw = server.client();
});
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});
afterAll(() => server.stop());

const ROUNDS = 5;

/** Two caches of a user who may do all but what `rules` take away, after some rounds of calls. */
async function withoutRights(user: string, rules: string): Promise<readonly Patient[]> {
  await raw.call('ACL', 'SETUSER', user, 'reset', 'on', '>secret', '~*', '&*', '+@all', ...rules.split(' '));
  const url = `redis://${user}:secret@127.0.0.1:${server.port}`;
  const patients = await Promise.all([
    Patient.open(`${user}-own`, url, false),
    Patient.open(`${user}-handed-in`, url, true),
  ]);
  closers.push(() => Promise.all(patients.map((patient) => patient.close())));
  for (const patient of patients) {
    for (let round = 0; round < ROUNDS; round++) {
      const { wrong, loads } = await patient.round();
      expect([wrong, loads]).toEqual([[], 1]);
    }
    expect(patient.queued).toBeLessThan(20);
  }
  return patients;
}

/** The connections live on, and may from now on. */
async function allow(user: string, patients: readonly Patient[]): Promise<void> {
  await raw.call('ACL', 'SETUSER', user, '+@all');
  for (const patient of patients) await patient.hitsAgain();
}

describe('A user who may not use one command that the cache needs', () => {
  it.each([
    ['GET', 'no-get', '-get'],
    ['EVALSHA and EVAL', 'no-eval', '-evalsha -eval'],
    ['SET', 'no-set', '-set'],
  ])('gets every value, is told of it, and has hits as soon as it may: %s', async (_, user, rules) => {
    const patients = await withoutRights(user, rules);
    for (const { cache } of patients) {
      // One line for each thing that is refused.
      expect(cache.warnings.length).toBeLessThanOrEqual(4);
      expect(cache.warnings.join()).toContain('refuses to');
    }
    await allow(user, patients);
  });

  it.each([
    ['PUBLISH', 'no-publish', '-publish'],
    ['SUBSCRIBE', 'no-subscribe', '-subscribe'],
  ])('has hits without it: %s', async (_, user, rules) => {
    const patients = await withoutRights(user, rules);
    for (const patient of patients) {
      await patient.hitsAgain();
      expect(patient.cache.warnings.length).toBeLessThanOrEqual(2);
    }
    await allow(user, patients);
  });
});
