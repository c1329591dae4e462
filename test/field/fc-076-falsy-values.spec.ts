import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { field } from './support/field.js';

const here = field();

const VALUES: Readonly<Record<string, unknown>> = {
  zero: 0,
  'minus zero': -0,
  false: false,
  'empty text': '',
  NaN: NaN,
  'empty list': [],
  'empty object': {},
  'zero bigint': 0n,
};

@Injectable()
class Falsy {
  loads = 0;

  @Cached({ ttl: '1m', negativeTtl: '1s' })
  async get(name: string): Promise<unknown> {
    this.loads += 1;
    return VALUES[name];
  }
}

describe('FC-076: falsy and empty values', () => {
  it.each(Object.entries(VALUES))(
    '%s is loaded once in 10 calls and lives for the ttl',
    async (name, value) => {
      const app = await here.app({ providers: [Falsy] });
      for (let call = 0; call < 10; call++) {
        const answer = await app.get(Falsy).get(name);
        // Jest tells -0 from 0 and finds NaN equal to itself.
        expect(answer).toEqual(value);
      }
      expect(app.get(Falsy).loads).toBe(1);
      // Not for the negativeTtl of 1 s: these are values.
      expect(await here.pttl()).toBeGreaterThan(50_000);
      expect(await app.cache.of(Falsy, 'get').inspect(name)).toMatchObject({ negative: false });
      expect(app.cache.stats().outcomes).toMatchObject({ fresh: 9, negative: 0 });
    },
  );
});
