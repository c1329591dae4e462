import { AsyncLocalStorage } from 'node:async_hooks';
import { Controller, Get, Inject, Injectable, Scope } from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Cached, ConfigurationError } from 'nestjs-stampede-cache';
import supertest from 'supertest';
import { field } from './support/field.js';

const here = field();

interface Profile {
  readonly user: string;
}
interface Incoming {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

@Injectable({ scope: Scope.REQUEST })
class CurrentUser {
  constructor(@Inject(REQUEST) private readonly request: Incoming) {}

  get user(): string {
    return this.request.headers['authorization'] ?? 'nobody';
  }
}

@Injectable()
class SilentlyShared {
  constructor(private readonly current: CurrentUser) {}

  @Cached({ ttl: '60s' })
  async getProfile(): Promise<Profile> {
    return { user: this.current.user };
  }
}

@Injectable()
class Keyed {
  constructor(private readonly current: CurrentUser) {}

  @Cached({
    ttl: '60s',
    key(this: Keyed) {
      return this.current.user;
    },
  })
  async getProfile(): Promise<Profile> {
    return { user: this.current.user };
  }
}

@Controller()
class ProfileController {
  constructor(private readonly profiles: Keyed) {}

  @Get('me')
  me(): Promise<Profile> {
    return this.profiles.getProfile();
  }
}

const als = new AsyncLocalStorage<string>();

@Injectable()
class FromContext {
  loads = 0;

  @Cached({ ttl: '60s', key: () => als.getStore() })
  async getProfile(): Promise<Profile> {
    this.loads += 1;
    return { user: als.getStore() ?? 'nobody' };
  }
}

@Injectable()
class FromContextByVary {
  @Cached({ ttl: '60s', vary: () => als.getStore() })
  async getProfile(): Promise<Profile> {
    return { user: als.getStore() ?? 'nobody' };
  }
}

describe('FC-004: a method without arguments that depends on who asks', () => {
  it('in a request-scoped provider is refused at bootstrap without a key, by class and method', async () => {
    const error = await here.bootError(here.withCache({ providers: [CurrentUser, SilentlyShared] }));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error.message).toMatch(/SilentlyShared\.getProfile.*request-scoped/);
    expect(error.message).toMatch(/key/);
  });

  it('with a key made of the user answers each user, in two processes', async () => {
    const options = { controllers: [ProfileController], providers: [CurrentUser, Keyed] };
    for (const app of [await here.http(options), await here.http(options)]) {
      const ask = (user: string) =>
        supertest(app.nest.getHttpServer() as never)
          .get('/me')
          .set('authorization', user);
      for (const user of ['ann', 'bob', 'ann']) expect((await ask(user)).body).toEqual({ user });
    }
    expect(await here.entries()).toHaveLength(2);
  });

  it.each([
    ['the key', FromContext],
    ['an own vary', FromContextByVary],
  ])('from the async context answers each user when %s reads it there', async (_, type) => {
    for (const app of [await here.app({ providers: [type] }), await here.app({ providers: [type] })]) {
      const ask = (user: string) => als.run(user, () => app.get<FromContext>(type as never).getProfile());
      for (const user of ['ann', 'bob', 'ann']) expect(await ask(user)).toEqual({ user });
      expect(await Promise.all(['bob', 'ann', 'eve'].map(ask))).toEqual(
        ['bob', 'ann', 'eve'].map((user) => ({ user })),
      );
    }
    expect(await here.entries()).toHaveLength(3);
  });

  it('never shares where the module varies every key and a call has nobody to name', async () => {
    const app = await here.app({ cache: { vary: () => als.getStore() } });
    const load = () => 'shared';
    await expect(app.cache.getOrLoad('k', load)).rejects.toThrow(/vary/);
    expect(await als.run('ann', () => app.cache.getOrLoad('k', load))).toBe('shared');
  });
});
