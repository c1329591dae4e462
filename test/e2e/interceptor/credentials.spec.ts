import {
  Controller,
  createParamDecorator,
  type ExecutionContext,
  Get,
  Headers,
  Injectable,
  type CanActivate,
} from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { CachedRoute } from 'nestjs-stampede-cache';
import { EVERYWHERE, host, PLATFORMS, type Incoming, type Site } from './kit.js';

const requestOf = (context: ExecutionContext) => context.switchToHttp().getRequest<Incoming>();

/** Makes the user from what was sent, as Passport and its like do. */
@Injectable()
class AuthGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = requestOf(context);
    const { authorization, cookie } = request.headers;
    const id = authorization?.replace('Bearer ', '') ?? /sid=(\w+)/.exec(cookie ?? '')?.[1];
    if (id !== undefined) request.user = { id };
    return true;
  }
}

const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext) => requestOf(context).user);
const Tenant = createParamDecorator((_: unknown, context: ExecutionContext) => {
  return requestOf(context).headers['x-tenant'];
});
/** Looks who asks, and does not say. */
const Silent = createParamDecorator((_: unknown, context: ExecutionContext) => {
  void requestOf(context).user;
  return undefined;
});

let runs = 0;
beforeEach(() => {
  runs = 0;
});

@Controller()
@CachedRoute()
class Pages {
  @Get('nothing')
  nothing() {
    return (runs += 1);
  }
  @Get('tenant')
  tenant(@Tenant() _tenant?: string) {
    return (runs += 1);
  }
  @Get('silent')
  silent(@Silent() _user: unknown) {
    return (runs += 1);
  }
  @Get('vary')
  @CachedRoute({ vary: () => 'route' })
  vary() {
    return (runs += 1);
  }
  @Get('user')
  user(@CurrentUser() user?: { id: string }) {
    return `${user?.id ?? 'nobody'} ${(runs += 1)}`;
  }
  @Get('header')
  header(@Headers('authorization') token = 'nobody') {
    return `${token.replace('Bearer ', '')} ${(runs += 1)}`;
  }
  @Get('public')
  @CachedRoute({ http: { public: true } })
  public() {
    return (runs += 1);
  }
  @Get('session')
  @CachedRoute({ http: { inputs: { cookies: ['sid'] } } })
  session() {
    return (runs += 1);
  }
  @Get('token')
  @CachedRoute({ http: { credentials: ['x-token'] } })
  token() {
    return (runs += 1);
  }
}

describe.each(PLATFORMS)('Requests with credentials on %s', (platform) => {
  const { serve } = host(platform);
  const start = () =>
    serve({
      controllers: [Pages],
      providers: [EVERYWHERE, { provide: APP_GUARD, useClass: AuthGuard }],
      cache: { vary: () => 'module' },
    });
  const texts = async (site: Site, path: string, headers: readonly Record<string, string>[]) => {
    const all: string[] = [];
    for (const each of headers) all.push((await site.get(path, each)).text);
    return all;
  };
  const [ann, bob] = [{ authorization: 'Bearer ann' }, { authorization: 'Bearer bob' }];
  const [annsCookie, bobsCookie] = [{ cookie: 'theme=dark; sid=ann' }, { cookie: 'sid=bob' }];

  it.each(['nothing', 'tenant', 'silent', 'vary'])(
    'are not cached where nothing of the key says who asks: /%s',
    async (path) => {
      const site = await start();
      const asked = await texts(site, `/${path}`, [
        ann,
        bob,
        ann,
        annsCookie,
        annsCookie,
        { ...ann, 'x-tenant': 'a' },
      ]);
      expect(asked).toEqual(['1', '2', '3', '4', '5', '6']);
      expect(site.stored).toBe(0);
      // Those without one don't get theirs either.
      expect(await texts(site, `/${path}`, [{}, {}, ann])).toEqual(['7', '7', '8']);
    },
  );

  it('are cached for each user that a decorator finds', async () => {
    const site = await start();
    expect(await texts(site, '/user', [ann, bob, ann, annsCookie, bobsCookie, {}, {}])).toEqual([
      ...['ann 1', 'bob 2', 'ann 1', 'ann 1', 'bob 2'],
      ...['nobody 3', 'nobody 3'],
    ]);
  });

  it('are not cached where the decorator finds nobody', async () => {
    const site = await start();
    const strange = { cookie: 'theme=dark' };
    expect(await texts(site, '/user', [strange, strange])).toEqual(['nobody 1', 'nobody 2']);
    expect(site.stored).toBe(0);
  });

  it('are cached by the header that is declared, and by no other', async () => {
    const site = await start();
    expect(await texts(site, '/header', [ann, ann, bob, annsCookie, annsCookie])).toEqual([
      ...['ann 1', 'ann 1', 'bob 2'],
      ...['nobody 3', 'nobody 4'],
    ]);
  });

  it('are cached for all where the route is public', async () => {
    const site = await start();
    expect(await texts(site, '/public', [ann, bob, annsCookie, {}])).toEqual(['1', '1', '1', '1']);
  });

  it('are cached by the session cookie that http.inputs names', async () => {
    const site = await start();
    const { status } = await site.get('/session', annsCookie);
    expect(status).toBe(200);
    runs = 10;
    const [first, again, other] = await texts(site, '/session', [annsCookie, annsCookie, bobsCookie]);
    expect(again).toBe(first);
    expect(other).not.toBe(first);
  });

  it('are those that http.credentials names', async () => {
    const site = await start();
    expect(await texts(site, '/token', [{ 'x-token': 'a' }, { 'x-token': 'a' }])).toEqual(['1', '2']);
    expect(site.stored).toBe(0);
  });
});
