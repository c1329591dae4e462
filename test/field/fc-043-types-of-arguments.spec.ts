import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { field } from './support/field.js';

const here = field();

@Injectable()
class Types {
  loads = 0;

  @Cached()
  async of(value: unknown): Promise<string> {
    this.loads += 1;
    return shown(value);
  }
}

const shown = (value: unknown): string => `${typeof value} ${String(value)}`;

const VALUES = [1, '1', 1n, true, 'true', NaN, 'NaN', Infinity, -Infinity, 'Infinity', 0, '0', 0n, false];

describe('FC-043: arguments of different types that look alike', () => {
  it('have an entry each: the answer is that of the own argument, cold and warm', async () => {
    const types = await here.app({ providers: [Types] }).then((app) => app.get(Types));
    for (const _ of ['cold', 'warm']) {
      for (const value of VALUES) expect(await types.of(value)).toBe(shown(value));
    }
    // NaN hit itself the second time, too.
    expect(types.loads).toBe(VALUES.length);
  });

  it('0 and -0 share one', async () => {
    const types = await here.app({ providers: [Types] }).then((app) => app.get(Types));
    await types.of(0);
    await types.of(-0);
    expect(types.loads).toBe(1);
  });

  it('are told apart inside objects, maps and sets as well', async () => {
    const types = await here.app({ providers: [Types] }).then((app) => app.get(Types));
    const inside = VALUES.flatMap((value) => [
      { value },
      [value],
      new Set([value]),
      new Map([[value, value]]),
    ]);
    for (const value of inside) await types.of(value);
    expect(types.loads).toBe(inside.length);
  });
});
