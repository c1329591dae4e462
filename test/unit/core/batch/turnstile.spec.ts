import { Turnstile } from '../../../../lib/core/batch/turnstile.js';

describe('a turnstile', () => {
  it('lets so many in at once, the others in their order as these leave', () => {
    const turnstile = new Turnstile(2);
    const passed: string[] = [];
    for (const name of ['a', 'b', 'c', 'd', 'e']) turnstile.enter(() => passed.push(name));
    expect([passed.join(''), turnstile.hasRoom]).toEqual(['ab', false]);
    turnstile.leave();
    turnstile.leave();
    expect([passed.join(''), turnstile.hasRoom]).toEqual(['abcd', false]);
    for (let left = 0; left < 3; left++) turnstile.leave();
    expect([passed.join(''), turnstile.hasRoom]).toEqual(['abcde', true]);
    for (const name of ['f', 'g', 'h']) turnstile.enter(() => passed.push(name));
    expect(passed.join('')).toBe('abcdefg');
  });

  it('forgets who does not want to come in any more', () => {
    const turnstile = new Turnstile(1);
    const passed: string[] = [];
    const [first, second, third] = ['a', 'b', 'c'].map((name) => () => void passed.push(name));
    if (!first || !second || !third) throw new Error('three names');
    for (const pass of [first, second, third]) turnstile.enter(pass);
    turnstile.forget(second);
    turnstile.leave();
    expect(passed).toEqual(['a', 'c']);
  });
});
