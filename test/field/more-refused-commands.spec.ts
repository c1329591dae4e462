import { field } from './support/field.js';

const here = field();

describe('A server that refuses a command of the cache while it answers others', () => {
  it.each([
    ['a user without EVALSHA', '-evalsha -eval'],
    ['a user without SET', '-set'],
    ['a user without GET', '-get'],
  ])('is told of in the log, at least once: %s', async (_, rules) => {
    const { host, port } = here.redis;
    await here.raw.call(
      'ACL',
      'SETUSER',
      'app',
      'reset',
      'on',
      '>secret',
      '~*',
      '&*',
      '+@all',
      ...rules.split(' '),
    );
    const app = await here.app({ cache: { redis: `redis://app:secret@${host}:${port}` } });
    for (let i = 1; i <= 3; i++) expect(await app.cache.getOrLoad('k', () => i)).toBe(i);
    // Otherwise nothing but the load on the source tells that this cache keeps nothing.
    expect(here.lines.warnings.join('\n')).toMatch(/Redis refuses to \w+/);
  });
});
