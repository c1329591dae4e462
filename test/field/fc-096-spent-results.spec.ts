import { Readable } from 'node:stream';
import { Injectable } from '@nestjs/common';
import { Cached, UncacheableValueError } from 'nestjs-stampede-cache';
import { from, type Observable } from 'rxjs';
import { errorOf } from './support/conditions.js';
import { field } from './support/field.js';

const here = field();

/** A query builder as ORMs have it: it runs when somebody awaits it. */
class Query implements PromiseLike<number[]> {
  static runs = 0;

  // oxlint-disable-next-line unicorn/no-thenable
  then<A = number[], B = never>(
    resolve?: ((rows: number[]) => A | PromiseLike<A>) | null,
    reject?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    Query.runs += 1;
    return Promise.resolve([1, 2]).then(resolve, reject);
  }
}

/** `any` is how such results get past the compiler; a method of JavaScript has no types at all. */
type Untyped = ReturnType<typeof JSON.parse>;

@Injectable()
class Results {
  @Cached()
  async stream(): Promise<Readable> {
    return Readable.from(['a', 'b']);
  }

  @Cached()
  async iterator(): Promise<AsyncGenerator<number>> {
    return (async function* () {
      yield 1;
    })();
  }

  @Cached()
  async inside(): Promise<{ rows: Iterable<number> }> {
    return { rows: new Map([[1, 2]]).values() };
  }

  @Cached()
  observable(): Untyped {
    return from([1, 2]) satisfies Observable<number>;
  }

  @Cached()
  thenable(): Untyped {
    return new Query();
  }

  @Cached()
  synchronous(id: number): Untyped {
    return { id };
  }
}

describe('FC-096: results that can be read only once', () => {
  it.each(['stream', 'iterator', 'inside', 'observable'] as const)(
    'are an error that names the method, on the first call as on the second, and not a spent object: %s',
    async (method) => {
      const app = await here.app({ providers: [Results] });
      for (const _ of ['first', 'second']) {
        const error = await errorOf(app.get(Results)[method]() as Promise<unknown>);
        expect(error).toBeInstanceOf(UncacheableValueError);
        expect(error.message).toContain(`Results.${method}`);
      }
      expect(await here.entries()).toEqual([]);
    },
  );

  it('of generator methods are refused where the decorator stands', () => {
    const decorate = Cached() as (target: object, name: string, descriptor: PropertyDescriptor) => void;
    class Generators {
      *rows(): Generator<number> {
        yield 1;
      }
      async *pages(): AsyncGenerator<number> {
        yield 1;
      }
    }
    for (const name of ['rows', 'pages'] as const) {
      const descriptor = Object.getOwnPropertyDescriptor(Generators.prototype, name);
      expect(() => decorate(Generators.prototype, name, descriptor!)).toThrow(
        new RegExp(`Generators\\.${name} is a generator`),
      );
    }
  });

  it('are awaited once where they are thenable; their plain result is what is cached', async () => {
    const app = await here.app({ providers: [Results] });
    for (const _ of ['miss', 'hit']) expect(await app.get(Results).thenable()).toEqual([1, 2]);
    expect(Query.runs).toBe(1);
    expect(app.cache.stats().outcomes).toMatchObject({ loaded: 1, fresh: 1 });
  });

  it('of synchronous methods, which the compiler refuses, become Promises, with one warning', async () => {
    const app = await here.app({ providers: [Results] });
    const answers = [app.get(Results).synchronous(1), app.get(Results).synchronous(1)] as Promise<unknown>[];
    for (const answer of answers) expect(typeof answer.then).toBe('function');
    expect(await Promise.all(answers)).toEqual([{ id: 1 }, { id: 1 }]);
    await app.get(Results).synchronous(2);
    const warnings = here.lines.warnings.filter((line) => line.includes('Results.synchronous'));
    expect(warnings).toEqual([expect.stringMatching(/Promise/)]);
  });
});
