import { asking, BOTH, covered, SENT, type AnyRequest } from './kit.js';

type Ask = (it: AnyRequest) => unknown;

const copyOf = (it: AnyRequest, name: string) => ({ ...(it[name] as object) }) as Record<string, unknown>;
const without = (record: Record<string, unknown>, ...names: string[]) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

describe('A custom decorator that looks at headers as a whole covers', () => {
  const request = () => ({
    headers: { ...SENT, 'x-region': 'eu' },
    rawHeaders: ['Authorization', 'Bearer a', 'Cookie', 'sid=1; theme=dark', 'X-Region', 'eu'],
    headersDistinct: { authorization: ['Bearer a'], cookie: ['sid=1; theme=dark'], 'x-region': ['eu'] },
    raw: { headers: { ...SENT, 'x-region': 'eu' } },
  });

  it.each<[string, Ask, string[]]>([
    ['everything by the headers themselves', (it) => it['headers'], BOTH],
    ['everything by a copy', (it) => copyOf(it, 'headers'), BOTH],
    ['everything by a copy of the raw request’s', (it) => copyOf(it['raw'], 'headers'), BOTH],
    ['everything by a copy within', (it) => ({ headers: copyOf(it, 'headers') }), BOTH],
    ['what is left in a copy', (it) => without(copyOf(it, 'headers'), 'cookie'), ['authorization']],
    ['nothing by a copy without any', (it) => without(copyOf(it, 'headers'), ...BOTH), []],
    ['nothing by one header of a copy', (it) => copyOf(it, 'headers')['x-region'], []],
    ['one header of a copy by itself', (it) => copyOf(it, 'headers')['authorization'], ['authorization']],
    ['nothing by the names', (it) => Object.keys(it['headers']), []],
    ['nothing by the number of names', (it) => Object.keys(it['headers']).length, []],
    ['nothing by the names as a text', (it) => Object.keys(it['headers']).join(), []],
    ['nothing by a text of them all', (it) => JSON.stringify(it['headers']), []],
    [
      'what was read by name before that',
      (it) => [it['headers'].authorization, Object.keys(it['headers'])].join(),
      ['authorization'],
    ],
    [
      'not what was read by name after that',
      (it) => [Object.keys(it['headers']), it['headers'].authorization].join(),
      [],
    ],
    [
      'nothing by a loop that takes one',
      (it) => {
        let region: unknown;
        for (const name in it['headers']) if (name === 'x-region') region = it['headers'][name];
        return region;
      },
      [],
    ],
    ['nothing by their number on the wire', (it) => it['rawHeaders'].length, []],
    ['nothing by one of them on the wire', (it) => it['rawHeaders'][5], []],
    ['a header by its value on the wire', (it) => it['rawHeaders'][1], ['authorization']],
    ['everything by a record of those on the wire', (it) => ({ of: [...it['rawHeaders']] }), BOTH],
    ['everything by the distinct ones', (it) => it['headersDistinct'], BOTH],
    ['nothing by one of the distinct ones', (it) => it['headersDistinct']['x-region'][0], []],
    ['nothing by a copy of the request', (it) => copyOf({ it }, 'it')['method'] ?? 'GET', []],
  ])('%s', (_, ask, expected) => {
    expect(covered(asking(ask), request)).toEqual(expected);
  });

  it('nothing by a copy of the request, though it has the user in it', () => {
    const withUser = () => ({ ...request(), user: { id: 7 }, tenant: 'a' });
    const tenantOf: Ask = (it) => {
      const { tenant } = { ...it };
      return tenant as unknown;
    };
    expect(covered(asking(tenantOf), withUser)).toEqual([]);
    expect(
      covered(
        asking((it) => it['user'].id as unknown),
        withUser,
      ),
    ).toEqual(BOTH);
  });
});

describe('A custom decorator that looks at cookies or a session as a whole covers the cookies', () => {
  const request =
    (more: object = {}) =>
    () => ({ headers: { ...SENT }, ...more });
  const byCookies = (ask: Ask, cookies: object, more: object = {}) =>
    covered(asking(ask), request({ cookies, ...more })).length === 1;
  const two = { sid: '1', uid: '2', theme: 'dark' };

  it.each<[string, Ask, boolean]>([
    ['by all of them', (it) => it['cookies'], true],
    ['by a copy', (it) => copyOf(it, 'cookies'), true],
    ['by a copy with those that say who asks', (it) => without(copyOf(it, 'cookies'), 'theme'), true],
    ['not by a copy that lacks one of those', (it) => without(copyOf(it, 'cookies'), 'uid'), false],
    ['not by one that says nothing', (it) => copyOf(it, 'cookies')['theme'], false],
    ['not by their names', (it) => Object.keys(it['cookies']).join(), false],
  ])('%s', (_, ask, expected) => {
    expect(byCookies(ask, two)).toBe(expected);
  });

  it('by all of them, where no name says which one counts', () => {
    const strange = { visitor: '1', theme: 'dark' };
    expect(byCookies((it) => copyOf(it, 'cookies'), strange)).toBe(true);
    expect(byCookies((it) => without(copyOf(it, 'cookies'), 'visitor'), strange)).toBe(false);
    expect(byCookies((it) => ({ ...copyOf(it, 'cookies'), more: 'x' }), {})).toBe(false);
  });

  it('not where a parser took the signed ones out', () => {
    const plain = { theme: 'dark' };
    const signed = { signedCookies: { sid: '1' } };
    expect(byCookies((it) => it['cookies'], plain, signed)).toBe(false);
    expect(byCookies((it) => it['signedCookies'], plain, signed)).toBe(true);
    expect(byCookies((it) => ({ ...it['cookies'], ...it['signedCookies'] }), plain, signed)).toBe(true);
    expect(byCookies((it) => it['signedCookies'], { uid: '2' }, signed)).toBe(false);
    expect(byCookies((it) => it['signedCookies'], {}, { signedCookies: { sid: false } })).toBe(false);
  });

  it('by whom the session belongs to, and nothing else of it', () => {
    const session = { cart: 3, userId: 7 };
    const bySession = (ask: Ask) => byCookies(ask, {}, { session });
    expect(bySession((it) => it['session'])).toBe(true);
    expect(bySession((it) => without(copyOf(it, 'session'), 'cart'))).toBe(true);
    expect(bySession((it) => without(copyOf(it, 'session'), 'userId'))).toBe(false);
    expect(byCookies((it) => it['session'], {}, { session: { cart: 3 } })).toBe(false);
  });
});
