import { setImmediate as nextTurn } from 'node:timers/promises';
import { AsyncScope } from '../../../lib/core/async-scope.js';

/** How much keeps the storage in use that all scopes share. */
function holds(): number {
  const name = Symbol.for('nestjs-stampede-cache.async-scopes');
  return (globalThis as { [name: symbol]: { holds: number } | undefined })[name]?.holds ?? 0; // as the module put it there
}

const made: AsyncScope<never>[] = [];

function scopeOf<T>(name?: symbol): AsyncScope<T> {
  const scope = new AsyncScope<T>(name);
  made.push(scope as never); // to be closed
  return scope;
}

afterEach(() => {
  for (const scope of made.splice(0)) scope.close();
});

describe('AsyncScope', () => {
  it('has its value in all that a run begins, and nowhere else', async () => {
    const scope = scopeOf<string>();
    const seen: (string | undefined)[] = [];
    const run = async (name: string): Promise<void> => {
      await nextTurn();
      seen.push(scope.current());
      await scope.run(`${name} inside`, async () => {
        await nextTurn();
        seen.push(scope.current());
      });
      seen.push(scope.current());
    };
    await Promise.all([scope.run('a', () => run('a')), scope.run('b', () => run('b'))]);
    expect(seen.toSorted((a, b) => String(a).localeCompare(String(b)))).toEqual([
      'a',
      'a',
      'a inside',
      'b',
      'b',
      'b inside',
    ]);
    expect(scope.current()).toBeUndefined();
  });

  it('keeps scopes apart, and hides an outer value behind undefined', () => {
    const one = scopeOf<number | undefined>();
    const other = scopeOf<number>();
    const seen = one.run(1, () =>
      other.run(2, () => one.run(undefined, () => [one.current(), other.current()])),
    );
    expect(seen).toEqual([undefined, 2]);
  });

  it('outlives the closing of another scope', async () => {
    const one = scopeOf<number>();
    const other = scopeOf<number>();
    const seen = await one.run(1, async () => {
      other.run(2, () => undefined);
      other.close();
      await nextTurn();
      return one.current();
    });
    expect(seen).toBe(1);
    one.close();
  });

  it('runs what comes after it was closed without its value', () => {
    const scope = scopeOf<number>();
    scope.run(1, () => undefined);
    scope.close();
    scope.close();
    expect(scope.run(2, () => scope.current())).toBeUndefined();
  });

  it('has its value until a run has settled, also beside others, and costs nothing after it', async () => {
    const scope = scopeOf<number>();
    const values = async (value: number, turns: number): Promise<readonly (number | undefined)[]> => {
      const seen: (number | undefined)[] = [];
      await scope.during(value, async () => {
        for (let i = 0; i < turns; i++) {
          await nextTurn();
          seen.push(scope.current());
        }
      });
      return seen;
    };
    expect(await Promise.all([values(1, 1), values(2, 5)])).toEqual([[1], [2, 2, 2, 2, 2]]);
    expect(await values(3, 2)).toEqual([3, 3]);
    expect(scope.current()).toBeUndefined();
  });

  it('is over when a run throws, or returns no Promise', async () => {
    expect(holds()).toBe(0);
    const scope = scopeOf<number>();
    const fails = (): never => {
      throw new Error('failed');
    };
    expect(() => scope.during(1, fails)).toThrow('failed');
    expect(scope.during(1, () => scope.current())).toBe(1);
    await expect(scope.during(1, async () => fails())).rejects.toThrow('failed');
    expect(holds()).toBe(0);
  });

  it('of a lasting run goes on with what it began, while runs that settle come and go', async () => {
    const lasting = scopeOf<string>();
    const brief = scopeOf<string>();
    let later: Promise<string | undefined> | undefined;
    lasting.run('on', () => {
      later = nextTurn()
        .then(() => brief.during('x', async () => nextTurn()))
        .then(() => nextTurn())
        .then(() => lasting.current());
    });
    expect(await later).toBe('on');
    lasting.close();
    expect(holds()).toBe(0);
  });

  it('is one for those who share a name', () => {
    const name = Symbol('shared');
    const [one, other] = [scopeOf<number>(name), scopeOf<number>(name)];
    expect(one.during(3, () => other.current())).toBe(3);
  });

  it('has the innermost value, however deep', () => {
    const scope = scopeOf<number>();
    let depth = 0;
    const dive = (): number => (depth === 2_000 ? (scope.current() ?? -1) : scope.run((depth += 1), dive));
    expect(dive()).toBe(2_000);
  });
});
