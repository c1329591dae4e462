import { AsyncLocalStorage } from 'node:async_hooks';
import { Controller, Get, Headers, type MiddlewareConsumer, Module } from '@nestjs/common';
import { CachedRoute } from 'nestjs-stampede-cache';
import { field } from './support/field.js';
import { EVERYWHERE, PLATFORMS, serve } from './support/http.js';

const here = field();

interface Incoming {
  readonly headers: Readonly<Record<string, string | undefined>>;
}

/** The first of the languages, in lower case. */
const normal = (language: string | undefined): string => {
  const [first = ''] = language?.split(',') ?? [];
  return /^[a-z]{2}$/i.test(first) ? first.toLowerCase() : 'default';
};

let runs = 0;
beforeEach(() => {
  runs = 0;
});

@Controller()
class Declared {
  @Get('page')
  @CachedRoute()
  page(@Headers('accept-language') language?: string) {
    runs += 1;
    return { language: normal(language) };
  }
}

const languages = new AsyncLocalStorage<string>();

/** Runs each request in the context of its language, as nestjs-cls does. */
@Module({})
class LanguageModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply(({ headers }: Incoming, _: unknown, next: () => void) => {
        languages.run(normal(headers['accept-language']), next);
      })
      .forRoutes('{*all}');
  }
}

/** Takes its language from there; that the answer varies by it is known from `http.inputs`. */
@Controller()
class Ambient {
  @Get('page')
  @CachedRoute({ http: { inputs: { headers: ['accept-language'] } } })
  page() {
    runs += 1;
    return { language: languages.getStore() ?? 'default' };
  }
}

const vary = () => languages.getStore() ?? 'default';

describe.each(PLATFORMS)('FC-022, on %s: a page in several languages', (platform) => {
  describe.each([
    ['by a declared header', { controllers: [Declared] }],
    ["by the module's vary", { controllers: [Ambient], imports: [LanguageModule], cache: { vary } }],
  ])('%s', (_how, options) => {
    async function start() {
      const { url } = await serve(here, platform, { ...options, providers: [EVERYWHERE] });
      return async (language: string) => {
        const response = await fetch(`${url}/page`, { headers: { 'accept-language': language } });
        return { response, body: (await response.json()) as { language: string } };
      };
    }

    it('is in the one that was asked for, each loaded once, and says what it varies by', async () => {
      const get = await start();
      const bodies: string[] = [];
      for (const language of ['en', 'fr', 'en', 'de', '*']) {
        const { response, body } = await get(language);
        bodies.push(body.language);
        expect(response.headers.get('vary')).toMatch(/accept-language/i);
      }
      expect(bodies).toEqual(['en', 'fr', 'en', 'de', 'default']);
      expect(runs).toBe(4);
      expect(await here.entries()).toHaveLength(4);
    });

    it('is one for EN and en', async () => {
      const get = await start();
      await get('EN');
      expect((await get('en')).body).toEqual({ language: 'en' });
      expect(runs).toBe(1);
    });

    it('has a key of bounded length, whatever is sent', async () => {
      const get = await start();
      expect((await get(`en,${'x'.repeat(8_000)}`)).response.status).toBe(200);
      const names = await here.raw.keys('*');
      expect(Math.max(...names.map(({ length }) => length))).toBeLessThan(500);
    });
  });
});
