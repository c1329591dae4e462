import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { field } from './support/field.js';

const here = field();

interface Manifest {
  readonly version: string;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly engines?: Readonly<Record<string, string>>;
}

// The manifest of this package, which npm checks before anybody starts anything.
const manifest = JSON.parse(readFileSync(join(__dirname, '../../package.json'), 'utf8')) as Manifest;

describe('FC-118: peers in a version that is not supported', () => {
  it('are told of at installation: every one has a range with a lowest and a highest major', () => {
    const { peerDependencies = {}, engines = {} } = manifest;
    expect(Object.keys(peerDependencies).sort()).toEqual([
      '@nestjs/common',
      '@nestjs/core',
      'ioredis',
      'reflect-metadata',
      'rxjs',
    ]);
    for (const range of Object.values(peerDependencies))
      expect(range).toMatch(/^\^\d+\.\d+\.\d+( \|\| \^\d+\.\d+\.\d+)*$/);
    expect(engines['node']).toMatch(/^>=\d+\.\d+\.\d+$/);
  });

  it('an ioredis too old to have what is needed is one clear error at bootstrap, and no TypeError in a call', async () => {
    class Redis {
      readonly status = 'ready';
      readonly options = {};
      get = () => Promise.resolve(null);
      on = () => this;
      off = () => this;
      duplicate = () => new Redis();
      disconnect = () => undefined;
    }
    const error = await here.bootError(here.withCache({ cache: { redis: new Redis() } }));
    expect(error).toMatchObject({ code: 'CONFIGURATION' });
    expect(error.message).toMatch(/redis: got an instance of Redis/);
  });

  it('the installed ones work together: a miss, a hit, an invalidation', async () => {
    const { cache } = await here.app();
    for (const loaded of ['v1', 'v1 again']) expect(await cache.getOrLoad('k', () => loaded)).toBe('v1');
    await cache.invalidate('k');
    expect(await cache.getOrLoad('k', () => 'v2')).toBe('v2');
  });
});
