import {
  Controller,
  Get,
  Injectable,
  SetMetadata,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { Cached } from 'nestjs-stampede-cache';
import supertest from 'supertest';
import { field } from './support/field.js';
import { metadataOf, methodOf } from './support/metadata.js';

const here = field();

interface Incoming {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** As it is often written: no roles on the handler, nobody is turned away. */
@Injectable()
class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const roles = this.reflector.get<string[] | undefined>('roles', context.getHandler());
    if (roles === undefined) return true;
    const { headers } = context.switchToHttp().getRequest<Incoming>();
    return roles.includes(headers['x-role'] ?? '');
  }
}

@Controller()
class Bare {
  @Get('report')
  @SetMetadata('roles', ['admin'])
  async report(): Promise<string> {
    return 'secret';
  }
}

@Controller()
class CachedFirst {
  @Cached()
  @Get('report')
  @SetMetadata('roles', ['admin'])
  async report(): Promise<string> {
    return 'secret';
  }
}

@Controller()
class CachedBetween {
  @Get('report')
  @Cached()
  @SetMetadata('roles', ['admin'])
  async report(): Promise<string> {
    return 'secret';
  }
}

@Controller()
class CachedLast {
  @Get('report')
  @SetMetadata('roles', ['admin'])
  @Cached()
  async report(): Promise<string> {
    return 'secret';
  }
}

describe.each([CachedFirst, CachedBetween, CachedLast])('FC-005: a guarded handler, %p', (controller) => {
  const start = async () => {
    const app = await here.http({
      controllers: [controller],
      providers: [{ provide: APP_GUARD, useClass: RolesGuard }],
    });
    const ask = (role: string) =>
      supertest(app.nest.getHttpServer() as never)
        .get('/report')
        .set('x-role', role);
    return { app, ask };
  };

  it('turns away who lacks the role, with a cold and with a warm entry, and before any look into the cache', async () => {
    const { app, ask } = await start();
    expect((await ask('user')).status).toBe(403);
    expect(await ask('admin')).toMatchObject({ status: 200, text: 'secret' });
    expect(await here.entries()).toHaveLength(1);
    const counts = await here.redis.countCommands(async () => {
      expect((await ask('user')).status).toBe(403);
    });
    expect(counts['get'] ?? 0).toBe(0);
    expect(await ask('admin')).toMatchObject({ status: 200, text: 'secret' });
    expect(app.cache.stats().outcomes).toMatchObject({ loaded: 1, fresh: 1 });
  });

  it('has the metadata of the plain one, to the last key', () => {
    const { roles, ...rest } = metadataOf(methodOf(controller, 'report'));
    expect({ roles, ...rest }).toEqual(metadataOf(methodOf(Bare, 'report')));
    expect(roles).toEqual(['admin']);
  });
});
