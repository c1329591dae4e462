import { OddAnswers } from '../../../lib/nest/route/odd-answers.js';

const MINUTE = 60_000;

describe('Answers that only one client can have', () => {
  let now: number;
  let odd: OddAnswers;
  beforeEach(() => {
    now = 0;
    odd = new OddAnswers(() => now);
  });
  const note = (times: number) => {
    for (let i = 0; i < times; i++) odd.note();
  };

  it('give rest from the third in a row on, for a minute', () => {
    note(2);
    expect(odd.isResting).toBe(false);
    note(1);
    expect(odd.isResting).toBe(true);
    now = MINUTE - 1;
    expect(odd.isResting).toBe(true);
    now = MINUTE;
    expect(odd.isResting).toBe(false);
  });

  it('are no row with another one in between', () => {
    for (let i = 0; i < 5; i++) {
      note(2);
      odd.endRow();
    }
    expect(odd.isResting).toBe(false);
  });

  it('give rest again with the first one after a rest, unless another one came before it', () => {
    note(3);
    now = MINUTE;
    note(1);
    expect(odd.isResting).toBe(true);
    now = 2 * MINUTE;
    odd.endRow();
    note(2);
    expect(odd.isResting).toBe(false);
  });

  it('that began before the rest, and end in it, make it no shorter', () => {
    note(3);
    odd.endRow();
    expect(odd.isResting).toBe(true);
  });
});
