import { Injectable } from '@nestjs/common';
import { Cached } from 'nestjs-stampede-cache';
import { field } from './support/field.js';

const here = field();

@Injectable()
class Flaky {
  calls = 0;

  @Cached()
  async rejects(): Promise<string> {
    this.calls += 1;
    if (this.calls === 1) throw new Error('a secret of the first call');
    return 'well';
  }

  @Cached()
  throws(): Promise<string> {
    this.calls += 1;
    if (this.calls === 1) throw new Error('a secret of the first call');
    return Promise.resolve('well');
  }
}

describe.each(['rejects', 'throws'] as const)('FC-038: a method that %s once', (method) => {
  it('is called again by whoever calls in the catch handler, and by nobody after that', async () => {
    const app = await here.app({ providers: [Flaky] });
    const flaky = app.get(Flaky);
    let first: unknown;
    const inHandler = await flaky[method]().catch((error: unknown) => {
      first = error;
      return flaky[method]();
    });
    expect(first).toMatchObject({ message: 'a secret of the first call' });
    expect(inHandler).toBe('well');
    expect(await flaky[method]()).toBe('well');
    expect(flaky.calls).toBe(2);
  });

  it('leaves nothing of its error in Redis', async () => {
    const app = await here.app({ providers: [Flaky] });
    await expect(app.get(Flaky)[method]()).rejects.toThrow('a secret');
    expect(await here.entries()).toEqual([]);
    for (const name of await here.raw.keys('*')) {
      expect(`${name} ${await here.raw.get(name)}`).not.toMatch(/secret|Error/);
    }
  });
});
