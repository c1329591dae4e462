import {
  createParamDecorator,
  type ExecutionContext,
  type INestApplication,
  Injectable,
  NotFoundException,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { APP_INTERCEPTOR } from '@nestjs/core';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import {
  Args,
  Context,
  Field,
  GqlExecutionContext,
  GraphQLModule,
  Int,
  Mutation,
  ObjectType,
  Parent,
  Query,
  ResolveField,
  Resolver,
  Subscription,
} from '@nestjs/graphql';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import {
  Cached,
  CachedRoute,
  NoCache,
  StampedeCacheInterceptor,
  StampedeCacheModule,
  StampedeCacheService,
} from 'nestjs-stampede-cache';
import { deferred, type Deferred } from '../support/deferred.js';
import { until } from '../support/until.js';
import { bootError, Lines } from './kit.js';

/** How often each resolver ran, and what the next run of `product` waits for. */
@Injectable()
class Runs {
  private readonly byName = new Map<string, number>();
  gate: Deferred<void> | undefined;

  count(name: string): number {
    const runs = (this.byName.get(name) ?? 0) + 1;
    this.byName.set(name, runs);
    return runs;
  }

  of(name: string): number {
    return this.byName.get(name) ?? 0;
  }
}

@ObjectType()
class Product {
  @Field(() => Int)
  id!: number;
  @Field()
  name!: string;
}

/** Who asks, as a guard left it on the request. */
const CurrentUser = createParamDecorator(
  (_data: unknown, context: ExecutionContext) =>
    GqlExecutionContext.create(context).getContext<{ req: { user?: string } }>().req.user,
);

/** Lets everyone in, and notes who it is. */
class Allow {
  static asked = 0;
  canActivate(context: ExecutionContext): boolean {
    Allow.asked += 1;
    const { req } = GqlExecutionContext.create(context).getContext<{
      req: { headers: Record<string, string>; user?: string | undefined };
    }>();
    req.user = req.headers['authorization'];
    return true;
  }
}

@Resolver(() => Product)
@UseGuards(Allow)
class ProductsResolver {
  constructor(private readonly runs: Runs) {}

  @Query(() => Product)
  @CachedRoute()
  async product(@Args('id', { type: () => Int }) id: number): Promise<Product> {
    this.runs.count('product');
    await this.runs.gate?.promise;
    return { id, name: `product ${id}` };
  }

  @Query(() => String)
  @CachedRoute()
  basket(@CurrentUser() user: string | undefined): string {
    return `${user ?? 'nobody'} ${this.runs.count('basket')}`;
  }

  @Query(() => Int)
  @CachedRoute({ http: { public: true } })
  visitors(): number {
    return this.runs.count('visitors');
  }

  @Query(() => Int)
  @Cached()
  async stockOf(@Args('id', { type: () => Int }) id: number): Promise<number> {
    return this.runs.count('stockOf') * 100 + id;
  }

  @Query(() => Int, { nullable: true })
  @CachedRoute()
  absent(): null {
    this.runs.count('absent');
    return null;
  }

  @Query(() => Product)
  @CachedRoute()
  async missing(@Args('id', { type: () => Int }) id: number): Promise<Product> {
    this.runs.count('missing');
    await this.runs.gate?.promise;
    throw new NotFoundException(`no product ${id}`);
  }

  @Query(() => [Product])
  products(): Product[] {
    this.runs.count('products');
    return Array.from({ length: 50 }, (_, id) => ({ id, name: `product ${id}` }));
  }

  @ResolveField(() => Int)
  price(@Parent() { id }: Product): number {
    this.runs.count('price');
    return id * 10;
  }

  @ResolveField(() => Int)
  @CachedRoute()
  weight(@Parent() { id }: Product, @Args('unit', { defaultValue: 'g' }) unit: string): number {
    this.runs.count('weight');
    return unit === 'kg' ? id : id * 1000;
  }

  @Mutation(() => Int)
  buy(): number {
    return this.runs.count('buy');
  }

  @Mutation(() => Product)
  @CachedRoute()
  rename(@Args('id', { type: () => Int }) id: number): Product {
    this.runs.count('rename');
    return { id, name: 'renamed' };
  }

  @Subscription(() => Int)
  @CachedRoute()
  ticks(): AsyncIterable<{ ticks: number }> {
    this.runs.count('ticks');
    return twoTicks();
  }
}

async function* twoTicks(): AsyncGenerator<{ ticks: number }> {
  yield { ticks: 1 };
  yield { ticks: 2 };
}

/** All of it is marked; it has what a mark on the class does not reach. */
@Resolver(() => Product)
@CachedRoute()
class MarkedResolver {
  constructor(private readonly runs: Runs) {}

  @Query(() => Int)
  marked(): number {
    return this.runs.count('marked');
  }
  @Query(() => Int)
  @NoCache()
  unmarked(): number {
    return this.runs.count('unmarked');
  }
  @Mutation(() => Int)
  change(): number {
    return this.runs.count('change');
  }
  @ResolveField(() => Int)
  volume(@Parent() { id }: Product): number {
    return this.runs.count('volume') && id;
  }
}

interface Answer {
  readonly data: Record<string, unknown> | null;
  readonly errors?: readonly { readonly message: string; readonly extensions: object }[];
}

const open: INestApplication[] = [];
afterEach(async () => {
  for (const app of open.splice(0)) await app.close();
});

const schema = (options: Partial<ApolloDriverConfig> = {}) =>
  GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    autoSchemaFile: true,
    playground: false,
    ...options,
  });

async function start(
  platform: string,
  resolvers: Type[] = [ProductsResolver],
  options: Partial<ApolloDriverConfig> = {},
) {
  const lines = new Lines();
  const module = await Test.createTestingModule({
    imports: [
      StampedeCacheModule.forRoot({ policy: { ttl: '60s', jitter: 0, earlyRefresh: 0 } }),
      schema({ fieldResolverEnhancers: ['interceptors'], ...options }),
    ],
    providers: [Runs, ...resolvers, { provide: APP_INTERCEPTOR, useClass: StampedeCacheInterceptor }],
  })
    .setLogger(lines)
    .compile();
  const adapter = platform === 'Fastify' ? new FastifyAdapter() : new ExpressAdapter();
  const app = module.createNestApplication(adapter);
  open.push(app);
  await app.listen(0, '127.0.0.1');
  const url = `${await app.getUrl()}/graphql`;
  const ask = async (query: string, headers: Record<string, string> = {}): Promise<Answer> => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query }),
    });
    return (await response.json()) as Answer;
  };
  return { ask, runs: app.get(Runs), cache: app.get(StampedeCacheService), lines };
}

const dataOf = ({ data, errors }: Answer) => {
  expect(errors).toBeUndefined();
  return data;
};

describe.each(['Express', 'Fastify'])('StampedeCacheInterceptor over GraphQL on %s', (platform) => {
  it('answers a marked query from the cache, by its arguments, whatever is selected of it', async () => {
    const { ask, runs } = await start(platform);
    for (const id of [1, 2, 1, 2]) {
      expect(dataOf(await ask(`{ product(id: ${id}) { id name } }`))).toEqual({
        product: { id, name: `product ${id}` },
      });
    }
    expect(dataOf(await ask('{ again: product(id: 1) { name } }'))).toEqual({ again: { name: 'product 1' } });
    const byVariable = await ask('query Q($id: Int! = 2) { product(id: $id) { id } }');
    expect(dataOf(byVariable)).toEqual({ product: { id: 2 } });
    expect(runs.of('product')).toBe(2);
  });

  it('runs the resolver once for 20 that ask at a time, and the guards for each', async () => {
    const { ask, runs, cache } = await start(platform);
    runs.gate = deferred();
    Allow.asked = 0;
    const answers = Array.from({ length: 20 }, () => ask('{ product(id: 7) { name } }'));
    await until(() => cache.stats().active.callers === 20, { what: '20 callers' });
    runs.gate.resolve();
    for (const answer of await Promise.all(answers)) {
      expect(dataOf(answer)).toEqual({ product: { name: 'product 7' } });
    }
    expect(runs.of('product')).toBe(1);
    expect(Allow.asked).toBe(20);
  });

  it('gives all that ask at a time one error, and stores none', async () => {
    const { ask, runs, cache } = await start(platform);
    runs.gate = deferred();
    const answers = Array.from({ length: 20 }, () => ask('{ missing(id: 7) { name } }'));
    await until(() => cache.stats().active.callers === 20, { what: '20 callers' });
    runs.gate.resolve();
    const errors = (await Promise.all(answers)).map((answer) => answer.errors?.[0]);
    expect(errors[0]).toMatchObject({
      message: 'no product 7',
      extensions: { originalError: { statusCode: 404 } },
    });
    expect(errors.map((error) => error?.message)).toEqual(Array(20).fill('no product 7'));
    expect(runs.of('missing')).toBe(1);
    runs.gate = undefined;
    expect((await ask('{ missing(id: 7) { name } }')).errors?.[0]?.message).toBe('no product 7');
    expect(runs.of('missing')).toBe(2);
  });

  it('caches a @Cached query once: the wrapper of the method stands aside', async () => {
    const { ask, runs, cache } = await start(platform);
    for (let i = 0; i < 3; i++) expect(dataOf(await ask('{ stockOf(id: 1) }'))).toEqual({ stockOf: 101 });
    expect(runs.of('stockOf')).toBe(1);
    expect(cache.stats().outcomes).toMatchObject({ loaded: 1, fresh: 2 });
  });

  it('keeps null', async () => {
    const { ask, runs } = await start(platform);
    for (let i = 0; i < 2; i++) expect(dataOf(await ask('{ absent }'))).toEqual({ absent: null });
    expect(runs.of('absent')).toBe(1);
  });

  it('runs an unmarked field resolver for each of 50 parents, each time', async () => {
    const { ask, runs } = await start(platform);
    for (let i = 1; i <= 2; i++) {
      const products = dataOf(await ask('{ products { id price } }'))?.['products'] as { price: number }[];
      expect(products.map(({ price }) => price)).toEqual(Array.from({ length: 50 }, (_, id) => id * 10));
      expect(runs.of('price')).toBe(50 * i);
    }
  });

  it('caches a marked field resolver by its parent and its arguments', async () => {
    const { ask, runs } = await start(platform);
    for (let i = 0; i < 2; i++) {
      const products = dataOf(await ask('{ products { id weight } }'))?.['products'] as { weight: number }[];
      expect(products.map(({ weight }) => weight)).toEqual(Array.from({ length: 50 }, (_, id) => id * 1000));
    }
    expect(runs.of('weight')).toBe(50);
    expect(dataOf(await ask('{ product(id: 3) { weight(unit: "kg") } }'))).toEqual({
      product: { weight: 3 },
    });
    expect(runs.of('weight')).toBe(51);
    // The same parent by another way.
    expect(dataOf(await ask('{ product(id: 3) { weight } }'))).toEqual({ product: { weight: 3000 } });
    expect(runs.of('weight')).toBe(51);
  });

  it('runs every mutation, and the field resolvers below it', async () => {
    const { ask, runs, lines } = await start(platform);
    for (let i = 1; i <= 2; i++) {
      expect(dataOf(await ask('mutation { buy }'))).toEqual({ buy: i });
      expect(dataOf(await ask('mutation { rename(id: 1) { name weight } }'))).toEqual({
        rename: { name: 'renamed', weight: 1000 },
      });
      expect(runs.of('rename')).toBe(i);
      expect(runs.of('weight')).toBe(i);
    }
    expect(lines.ofCache('warn').filter((line) => line.includes('rename'))).toEqual([
      expect.stringMatching(/ProductsResolver\.rename: a GraphQL mutation/),
    ]);
  });

  it('neither answers nor stores a request with a credential that nothing covers', async () => {
    const { ask, runs, cache } = await start(platform);
    for (let i = 1; i <= 2; i++) {
      await ask('{ product(id: 1) { name } }', { authorization: 'Bearer a' });
      expect(runs.of('product')).toBe(i);
    }
    expect(cache.stats().outcomes.loaded ?? 0).toBe(0);
  });

  it('gives each user their own where a decorator of the handler tells users apart', async () => {
    const { ask } = await start(platform);
    const basketOf = async (user?: string): Promise<unknown> =>
      dataOf(await ask('{ basket }', user === undefined ? {} : { authorization: user }))?.['basket'];
    expect([await basketOf('a'), await basketOf('b'), await basketOf()]).toEqual(['a 1', 'b 2', 'nobody 3']);
    expect([await basketOf('a'), await basketOf('b'), await basketOf()]).toEqual(['a 1', 'b 2', 'nobody 3']);
    // A cookie comes with the user that the guard made of the rest.
    expect(dataOf(await ask('{ basket }', { cookie: 'theme=dark', authorization: 'a' }))).toEqual({
      basket: 'a 1',
    });
    // Nobody is no user.
    expect(dataOf(await ask('{ basket }', { cookie: 'theme=dark' }))).toEqual({ basket: 'nobody 4' });
  });

  it('shares what is public, credentials or not', async () => {
    const { ask } = await start(platform);
    for (const authorization of ['a', 'b']) {
      expect(dataOf(await ask('{ visitors }', { authorization }))).toEqual({ visitors: 1 });
    }
  });
});

describe('StampedeCacheInterceptor over GraphQL', () => {
  it('takes a mark on a resolver class for its queries alone', async () => {
    const { ask, runs } = await start('Express', [ProductsResolver, MarkedResolver]);
    for (let i = 1; i <= 2; i++) {
      expect(dataOf(await ask('{ marked }'))).toEqual({ marked: 1 });
      expect(dataOf(await ask('{ unmarked }'))).toEqual({ unmarked: i });
      expect(dataOf(await ask('mutation { change }'))).toEqual({ change: i });
      await ask('{ product(id: 1) { volume } }');
      expect(runs.of('volume')).toBe(i);
    }
  });

  it('is not asked of field resolvers unless Nest is told to', async () => {
    const { ask, runs } = await start('Express', [ProductsResolver], { fieldResolverEnhancers: [] });
    for (let i = 1; i <= 2; i++) {
      await ask('{ product(id: 1) { weight } }');
      expect(runs.of('weight')).toBe(i);
    }
    expect(runs.of('product')).toBe(1);
  });

  it('leaves a subscription alone: each of its clients gets every event', async () => {
    const { runs, events } = await subscribed();
    expect(events).toEqual([
      [1, 2],
      [1, 2],
    ]);
    expect(runs).toBe(2);
  });

  it('refuses @Context() at the start, unless the key is said', async () => {
    const withContext = (key?: () => number) => {
      @Resolver()
      class Owned {
        @Query(() => Int)
        @CachedRoute(key ? { http: { key } } : {})
        owned(@Context() _context: object): number {
          return 1;
        }
      }
      return {
        imports: [StampedeCacheModule.forRoot({ policy: { ttl: '60s' } })],
        providers: [Owned, { provide: APP_INTERCEPTOR, useClass: StampedeCacheInterceptor }],
      };
    };
    expect((await bootError(withContext())).message).toMatch(
      /Owned\.owned: the handler takes @Context\(\), which can't be part of a key/,
    );
    await expect(bootError(withContext(() => 1))).rejects.toThrow('The application started.');
  });
});

/** What two clients get of one subscription, executed as a WebSocket server does. */
async function subscribed(): Promise<{ events: unknown[][]; runs: number }> {
  const { GraphQLSchemaHost } = await import('@nestjs/graphql');
  const { runs } = await start('Express');
  const host = open.at(-1)?.get(GraphQLSchemaHost, { strict: false });
  const field = host?.schema.getSubscriptionType()?.getFields()['ticks'];
  const info = {
    fieldName: 'ticks',
    parentType: { name: 'Subscription' },
    operation: { operation: 'subscription' },
  };
  const read = async (): Promise<unknown[]> => {
    const seen: unknown[] = [];
    const stream = (await field?.subscribe?.(undefined, {}, { req: { headers: {} } }, info as never)) as
      AsyncIterable<{ ticks: number }> | undefined;
    for await (const { ticks } of stream ?? []) seen.push(ticks);
    return seen;
  };
  return { events: [await read(), await read()], runs: runs.of('ticks') };
}
