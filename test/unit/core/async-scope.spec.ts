import { setImmediate as nextTurn } from 'node:timers/promises';
import { AsyncScope } from '../../../lib/core/async-scope.js';

describe('AsyncScope', () => {
  it('has its value in all that a run begins, and nowhere else', async () => {
    const scope = new AsyncScope<string>();
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
    expect(seen.toSorted()).toEqual(['a', 'a', 'a inside', 'b', 'b', 'b inside']);
    expect(scope.current()).toBeUndefined();
  });

  it('keeps scopes apart, and hides an outer value behind undefined', () => {
    const one = new AsyncScope<number | undefined>();
    const other = new AsyncScope<number>();
    const seen = one.run(1, () =>
      other.run(2, () => one.run(undefined, () => [one.current(), other.current()])),
    );
    expect(seen).toEqual([undefined, 2]);
  });

  it('outlives the closing of another scope', async () => {
    const one = new AsyncScope<number>();
    const other = new AsyncScope<number>();
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
    const scope = new AsyncScope<number>();
    scope.run(1, () => undefined);
    scope.close();
    scope.close();
    expect(scope.run(2, () => scope.current())).toBeUndefined();
  });

  it('is one for those who share a name', () => {
    const name = Symbol('shared');
    const [one, other] = [new AsyncScope<number>(name), new AsyncScope<number>(name)];
    expect(one.run(3, () => other.current())).toBe(3);
  });

  it('has the innermost value, however deep', () => {
    const scope = new AsyncScope<number>();
    let depth = 0;
    const dive = (): number => (depth === 2_000 ? (scope.current() ?? -1) : scope.run((depth += 1), dive));
    expect(dive()).toBe(2_000);
  });
});
