import { Headers, Query, Req } from '@nestjs/common';
import 'reflect-metadata';
import { credentialsOf } from '../../../../lib/nest/route/inputs/index.js';
import { BOTH, covered, resolve, SENT, taking } from './kit.js';

describe('credentialsOf', () => {
  it('names what is carried with a value', () => {
    expect(credentialsOf({ headers: { authorization: 'a', cookie: '', 'x-key': 'k' } }, BOTH)).toEqual([
      'authorization',
    ]);
    expect(credentialsOf({ headers: { 'x-key': ['', 'k'] } }, ['x-key'])).toEqual(['x-key']);
  });

  it('is one and the same empty list where nothing is', () => {
    const none = credentialsOf({ headers: {} }, BOTH);
    expect(none).toEqual([]);
    expect(Object.isFrozen(none)).toBe(true);
    expect(credentialsOf({ headers: { cookie: '' } }, BOTH)).toBe(none);
  });
});

describe('A declared input covers', () => {
  const request = () => ({ headers: { ...SENT } });

  it('nothing, unless it is the credential', () => {
    expect(covered(resolve(taking(Query('user'), Headers('x-user'))), request)).toEqual([]);
    expect(covered(resolve(taking(Req()), { inputs: {} }), request)).toEqual([]);
  });

  it('the header that it is', () => {
    expect(covered(resolve(taking(Headers('Authorization'))), request)).toEqual(['authorization']);
    expect(covered(resolve(taking(Headers('cookie'))), request)).toEqual(['cookie']);
    const named = resolve(taking(Headers()), { inputs: { headers: ['Authorization', 'Cookie'] } });
    expect(covered(named, request)).toEqual(BOTH);
    expect(named.reading(request(), BOTH).isCovered).toBe(true);
  });

  it('all that was sent only if each is covered', () => {
    const subject = resolve(taking(Headers('Authorization')));
    expect(subject.reading(request(), BOTH).isCovered).toBe(false);
    expect(subject.reading(request(), []).isCovered).toBe(true);
  });

  it('the cookies by one that says who asks, if it was sent', () => {
    const byCookie = (name: string) => resolve(taking(), { inputs: { cookies: [name] } });
    expect(covered(byCookie('sid'), request)).toEqual(['cookie']);
    expect(covered(byCookie('theme'), request)).toEqual([]);
    expect(covered(byCookie('userId'), request)).toEqual([]);
  });

  it('the cookies by one that a parser took out as signed, as it was sent', () => {
    const { plan, ...subject } = resolve(taking(), { inputs: { cookies: ['connect.sid'] } });
    const signed = { 'connect.sid': '1' };
    const parsed = () => ({
      headers: { cookie: 'connect.sid=s%3A1.ok' },
      cookies: {},
      signedCookies: signed,
    });
    expect(covered({ plan, ...subject }, parsed)).toEqual(['cookie']);
    expect(subject.reading(parsed()).parts).toEqual(['cookie:connect.sid', 's:1.ok']);
    expect(covered({ plan, ...subject }, () => ({ ...parsed(), signedCookies: {} }))).toEqual([]);
  });

  it('the cookies by one whose signature stands beside it, and is part of the key', () => {
    const subject = resolve(taking(), { inputs: { cookies: ['session'] } });
    const keyOf = (cookie: string, cookies?: object) =>
      subject.key({ headers: { cookie }, ...(cookies && { cookies }) });
    const victim = keyOf('session=eyJpZCI6MX0; session.sig=secret');
    expect(
      keyOf('session.sig=secret; session=eyJpZCI6MX0', { session: 'eyJpZCI6MX0', 'session.sig': 'secret' }),
    ).toBe(victim);
    expect(keyOf('session=eyJpZCI6MX0')).not.toBe(victim);
    expect(keyOf('session=eyJpZCI6MX0; session.sig=guess')).not.toBe(victim);
    expect(keyOf('session.sig=secret')).toBe(keyOf(''));
  });
});

describe('Cookies of Nest 12', () => {
  /** Its decorators are not in NestJS 11, but its metadata is plain. */
  function declaring(kind: 14 | 15, name: string | undefined) {
    const Products = taking();
    Reflect.defineMetadata(
      '__routeArguments__',
      { [`${kind}:0`]: { index: 0, data: name } },
      Products,
      'find',
    );
    return Products;
  }
  const request = (more: object = {}) => ({
    headers: { ...SENT, cookie: 'sid=s:1.ok; uid=s:2.forged' },
    ...more,
  });
  const unsign = (text: string) => (text.endsWith('.ok') ? text.slice(2, -3) : undefined);
  const findSigner = () => ({ unsign });
  const signed = (name?: string, more = {}) => resolve(declaring(15, name), {}, { findSigner, ...more });

  it('are covered by all of them, unless a parser keeps the signed ones apart', () => {
    const all = resolve(declaring(14, undefined));
    expect(covered(all, request)).toEqual(['cookie']);
    expect(covered(all, () => request({ cookies: {}, signedCookies: {} }))).toEqual(['cookie']);
    expect(covered(all, () => request({ cookies: {}, signedCookies: { sid: '1' } }))).toEqual([]);
    expect(all.reading(request()).parts).toEqual(['cookie:', { sid: 's:1.ok', uid: 's:2.forged' }]);
    expect(all.plan.vary).toEqual(['Cookie']);
  });

  it('are part of the key as they were sent, and verified among the arguments', () => {
    const one = signed('sid').reading(request());
    expect([one.parts, one.args]).toEqual([['signed:sid', 's:1.ok'], ['1']]);
    const forged = signed('uid').reading(request());
    expect([forged.parts, forged.args]).toEqual([['signed:uid', 's:2.forged'], [undefined]]);
    expect(signed().reading(request()).args[0]).toEqual(Object.assign(Object.create(null), { sid: '1' }));
  });

  it('are covered by a signed one that says who asks, if its signature is right', () => {
    expect(covered(signed('sid'), request)).toEqual(['cookie']);
    expect(covered(signed('uid'), request)).toEqual([]);
    expect(covered(signed(), request)).toEqual(['cookie']);
  });

  it('are verified by a parser where the application has no secret', () => {
    const one = (name: string) => signed(name, { findSigner: () => undefined });
    const parsed = () => request({ signedCookies: { sid: '1', uid: false } });
    expect([one('sid').reading(parsed()).args, one('uid').reading(parsed()).args]).toEqual([
      ['1'],
      [undefined],
    ]);
    expect(covered(one('sid'), parsed)).toEqual(['cookie']);
    expect(covered(one('uid'), parsed)).toEqual([]);
    // Nest itself throws here; the handler tells of it.
    expect(one('sid').reading(request()).args).toEqual([undefined]);
  });
});
