import {
  Controller,
  createParamDecorator,
  Get,
  Headers,
  Req,
  UseInterceptors,
  type ExecutionContext,
  type ModuleMetadata,
  type Type,
} from '@nestjs/common';
import { CachedRoute, StampedeCacheInterceptor } from 'nestjs-stampede-cache';
import { field } from './support/field.js';
import { EVERYWHERE, PLATFORMS, serve, type Platform } from './support/http.js';

const here = field();

interface Incoming {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

const callerOf = ({ headers }: Incoming): string => {
  return headers['authorization'] ?? /sid=(\w+)/.exec(headers['cookie'] ?? '')?.[1] ?? 'anonymous';
};

const Caller = createParamDecorator((_: unknown, context: ExecutionContext) => {
  return callerOf(context.switchToHttp().getRequest<Incoming>());
});

let runs = 0;
beforeEach(() => {
  runs = 0;
});

/** The key leaves the caller out: `http.inputs` promises that nothing but the (missing) parameters matters. */
const BLIND = { http: { inputs: { query: [] } } } as const;

@Controller()
@UseInterceptors(StampedeCacheInterceptor)
class OnController {
  @Get('me')
  @CachedRoute(BLIND)
  me(@Req() request: Incoming) {
    runs += 1;
    return { id: callerOf(request) };
  }
}

@Controller()
class Marked {
  @Get('me')
  @CachedRoute(BLIND)
  me(@Req() request: Incoming) {
    runs += 1;
    return { id: callerOf(request) };
  }
}

@Controller()
@UseInterceptors(StampedeCacheInterceptor)
class ByHeader {
  @Get('me')
  @CachedRoute()
  me(@Headers('authorization') id = 'anonymous') {
    runs += 1;
    return { id };
  }
}

@Controller()
@UseInterceptors(StampedeCacheInterceptor)
class ByDecorator {
  @Get('me')
  @CachedRoute()
  me(@Caller() id: string) {
    runs += 1;
    return { id };
  }
}

@Controller()
@UseInterceptors(StampedeCacheInterceptor)
class ByKey {
  @Get('me')
  @CachedRoute({ http: { key: (context) => callerOf(context.switchToHttp().getRequest<Incoming>()) } })
  me(@Req() request: Incoming) {
    runs += 1;
    return { id: callerOf(request) };
  }
}

async function ask(
  platform: Platform,
  metadata: ModuleMetadata,
  name: 'authorization' | 'cookie',
): Promise<string[]> {
  const { url } = await serve(here, platform, metadata);
  const ids: string[] = [];
  for (const caller of ['A', 'B', 'A', undefined]) {
    const sent = { [name]: name === 'cookie' ? `sid=${caller}` : String(caller) };
    const response = await fetch(`${url}/me`, { headers: caller === undefined ? {} : sent });
    ids.push(((await response.json()) as { id: string }).id);
  }
  return ids;
}

describe.each(PLATFORMS)('FC-001, on %s: the page of one who sent', (platform) => {
  describe.each(['authorization', 'cookie'] as const)('%s', (name) => {
    it.each<[string, ModuleMetadata]>([
      ['on the controller', { controllers: [OnController] }],
      ['for the whole application', { controllers: [Marked], providers: [EVERYWHERE] }],
    ])('is nobody else’s by default, with the interceptor %s', async (_where, metadata) => {
      expect(await ask(platform, metadata, name)).toEqual(['A', 'B', 'A', 'anonymous']);
      expect(runs).toBe(4);
      // The anonymous one's.
      expect(await here.entries()).toHaveLength(1);
    });

    it.each<[string, Type]>([
      ['http.key', ByKey],
      ['a decorator that reads what was sent', ByDecorator],
    ])('is shared with its own caller where the route says who: %s', async (_how, controller) => {
      expect(await ask(platform, { controllers: [controller] }, name)).toEqual(['A', 'B', 'A', 'anonymous']);
      expect(runs).toBe(3);
      expect(await here.entries()).toHaveLength(3);
    });
  });

  it('a declared header is shared with who sends the same', async () => {
    expect(await ask(platform, { controllers: [ByHeader] }, 'authorization')).toEqual([
      'A',
      'B',
      'A',
      'anonymous',
    ]);
    expect(runs).toBe(3);
  });

  it('both leaves no key in Redis', async () => {
    const { url } = await serve(here, platform, { controllers: [OnController] });
    for (let i = 0; i < 3; i++)
      await fetch(`${url}/me`, { headers: { authorization: 'A', cookie: 'sid=B' } });
    expect(runs).toBe(3);
    expect(await here.entries()).toEqual([]);
    expect(await here.leases()).toEqual([]);
  });
});
