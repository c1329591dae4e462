import { createHmac } from 'node:crypto';
import * as common from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { EVERYWHERE, host, PLATFORMS } from './kit.js';

/** Since NestJS 12. */
const SignedCookies: unknown = Reflect.get(common, 'SignedCookies');
const signed = SignedCookies as (name: string) => ParameterDecorator; // called where there is such a thing
const describeEach = SignedCookies === undefined ? describe.skip.each : describe.each;

const SECRET = 'secret';

function cookieOf(sid: string, secret = SECRET): Record<string, string> {
  const signature = createHmac('sha256', secret).update(sid).digest('base64').replace(/=+$/, '');
  return { cookie: `sid=${encodeURIComponent(`s:${sid}.${signature}`)}` };
}

describeEach(PLATFORMS)('A cookie that the application signs, on %s', (platform) => {
  const { serve } = host(platform);

  it('covers where its signature is right, and is verified for the functions of the policy', async () => {
    let runs = 0;
    const seen: unknown[] = [];
    @common.Controller()
    class Pages {
      @common.Get()
      @CachedRoute({ when: (sid?: string) => seen.push(sid) > 0 })
      find(@signed('sid') sid = 'nobody') {
        return `${sid} ${(runs += 1)}`;
      }
    }
    const site = await serve({
      controllers: [Pages],
      providers: [EVERYWHERE],
      settings: { cookies: { secret: SECRET } },
    });
    const texts: string[] = [];
    for (const headers of [cookieOf('ann'), cookieOf('bob'), cookieOf('ann')]) {
      texts.push((await site.get('/', headers)).text);
    }
    expect(texts).toEqual(['ann 1', 'bob 2', 'ann 1']);
    expect(seen).toEqual(['ann', 'bob', 'ann']);
    const forged = await site.get('/', cookieOf('ann', 'guessed'));
    expect(forged.text).toBe('nobody 3');
    expect(forged.headers['cache-status']).toMatch(/detail=credential/);
    expect(site.stored).toBe(2);
  });
});
