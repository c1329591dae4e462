import { Controller, Get, Param, type ExecutionContext } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { EVERYWHERE, host, PLATFORMS, type Answer, type Incoming, type Site } from './kit.js';

let runs = 0;
beforeEach(() => {
  runs = 0;
});

const headersOf = (context: ExecutionContext) => context.switchToHttp().getRequest<Incoming>().headers;
/** What an application looks up, and does not always find. */
const KEYS: Readonly<Record<string, unknown>> = {
  undefined: undefined,
  null: null,
  empty: '',
  list: [],
  nothings: [undefined, null, ''],
  text: 'all',
  zero: 0,
  mixed: ['page', undefined],
};
const keyOf = (context: ExecutionContext) => KEYS[headersOf(context)['x-key'] ?? ''] as string;

@Controller()
@CachedRoute({ http: { key: keyOf } })
class Pages {
  @Get('page')
  page() {
    return (runs += 1);
  }
  @Get('public')
  @CachedRoute({ http: { key: keyOf, public: true } })
  public() {
    return (runs += 1);
  }
  @Get('number/:id')
  @CachedRoute({ http: { key: (context) => Number(headersOf(context)['x-id']) } })
  number(@Param('id') _id: string) {
    return (runs += 1);
  }
  @Get('numbers/:id')
  @CachedRoute({ http: { key: (context) => ['ids', Number(headersOf(context)['x-id'])] } })
  numbers(@Param('id') _id: string) {
    return (runs += 1);
  }
}

const detailOf = ({ headers }: Answer) => /detail=([\w-]+)/.exec(String(headers['cache-status']))?.[1];

describe.each(PLATFORMS)('An http.key on %s', (platform) => {
  const { serve } = host(platform);
  const start = () => serve({ controllers: [Pages], providers: [EVERYWHERE] });
  const twice = async (site: Site, path: string, headers: Record<string, string>) => {
    const answers = [await site.get(path, headers), await site.get(path, headers)];
    return { texts: answers.map(({ text }) => text), details: answers.map(detailOf) };
  };
  const ann = { authorization: 'Bearer ann' };

  it.each(['undefined', 'null', 'empty', 'list', 'nothings'])(
    'that is %s says nothing of who asks: a request with a credential goes past the cache',
    async (key) => {
      const site = await start();
      const asked = await twice(site, '/page', { ...ann, 'x-key': key });
      expect(asked).toEqual({ texts: ['1', '2'], details: ['credential', 'credential'] });
      expect(site.stored).toBe(0);
      const told = site.warnings(/http\.key/);
      expect(told).toEqual([expect.stringMatching(/Pages\.page: http\.key\(\) returned .*'authorization'/)]);
      // One without a credential is cached by it, and not answered with anything of theirs.
      expect(await twice(site, '/page', { 'x-key': key })).toMatchObject({ texts: ['3', '3'] });
      expect(site.warnings(/http\.key/)).toHaveLength(1);
    },
  );

  it.each(['text', 'zero', 'mixed'])('that is %s is its author’s word', async (key) => {
    const site = await start();
    expect(await twice(site, '/page', { ...ann, 'x-key': key })).toMatchObject({ texts: ['1', '1'] });
    expect(site.warnings(/http\.key/)).toEqual([]);
  });

  it('of a public route may be nothing', async () => {
    const site = await start();
    expect(await twice(site, '/public', { ...ann, 'x-key': 'null' })).toMatchObject({ texts: ['1', '1'] });
    expect(site.warnings(/http\.key/)).toEqual([]);
  });

  it.each(['number', 'numbers'])('that is NaN, or has it in it, is none: /%s', async (path) => {
    const site = await start();
    expect(await twice(site, `/${path}/1`, { 'x-id': 'x' })).toEqual({
      texts: ['1', '2'],
      details: ['key', 'key'],
    });
    expect(site.stored).toBe(0);
    expect(site.warnings(/NaN/)).toEqual([
      expect.stringMatching(new RegExp(`Pages\\.${path}: http\\.key\\(\\) returned NaN.*past the cache`)),
    ]);
    expect(await twice(site, `/${path}/1`, { 'x-id': '7' })).toMatchObject({ texts: ['3', '3'] });
  });

  it('that is NaN goes past the cache with a credential too', async () => {
    const site = await start();
    const asked = await twice(site, '/number/1', { ...ann, 'x-id': 'x' });
    expect(asked).toEqual({ texts: ['1', '2'], details: ['credential', 'credential'] });
  });
});
