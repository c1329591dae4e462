import { createHash } from 'node:crypto';
import { SCRIPTS, type Script } from '../../lib/redis/scripts/index.js';
import { RedisServer } from '../support/redis-server.js';

/** The names that a header line lists, remarks in brackets left out. */
function listed(script: Script, what: 'KEYS' | 'ARGV'): string[] {
  const line = new RegExp(`^-- ${what}: (.*)$`, 'm').exec(script.lua)?.[1] ?? '';
  const names = line.replace(/\([^)]*\)/g, '');
  return names.trim() === 'none' ? [] : names.split(',').map((name) => name.trim());
}

/** The highest index the code uses, and whether it uses all below it. */
function used(script: Script, what: 'KEYS' | 'ARGV'): number[] {
  const found = [...script.lua.matchAll(new RegExp(`${what}\\[(\\d+)\\]`, 'g'))].map((match) =>
    Number(match[1]),
  );
  return [...new Set(found)].sort((a, b) => a - b);
}

const indexes = (names: readonly string[]): number[] => names.map((_, index) => index + 1);

describe.each(SCRIPTS.map((script) => [script.name, script] as const))('the script %s', (_, script) => {
  it('declares as many keys as its header lists and its code uses', () => {
    expect(listed(script, 'KEYS')).toHaveLength(script.numberOfKeys);
    expect(used(script, 'KEYS')).toEqual(indexes(listed(script, 'KEYS')));
  });

  it('uses each argument that its header lists, and no other', () => {
    expect(used(script, 'ARGV')).toEqual(indexes(listed(script, 'ARGV')));
  });

  it('says what it returns', () => {
    expect(script.lua).toMatch(/^-- returns \S/m);
  });
});

describe('the scripts', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  it('have names of their own', () => {
    expect(new Set(SCRIPTS.map(({ name }) => name)).size).toBe(SCRIPTS.length);
  });

  it.each(SCRIPTS.map((script) => [script.name, script] as const))(
    '%s is Lua that the server accepts',
    async (_, { lua }) => {
      const sha = createHash('sha1').update(lua).digest('hex');
      expect(await server.client().script('LOAD', lua)).toBe(sha);
    },
  );
});
