import { count, milliseconds } from '../../../sample-app/src/demo/format.js';
import { Progress } from '../../../sample-app/src/demo/progress.js';
import { table } from '../../../sample-app/src/demo/table.js';

describe('table', () => {
  it('aligns names to the left and numbers to the right', () => {
    const rows = [
      ['one', '5', '1.25 s'],
      ['thirty', '1,000', '7 ms'],
    ];
    expect(table(['', 'n', 'p50'], rows)).toBe(
      [
        '            n     p50',
        '──────  ─────  ──────',
        'one         5  1.25 s',
        'thirty  1,000    7 ms',
      ].join('\n'),
    );
  });
});

describe('numbers', () => {
  it.each([
    [0, '0'],
    [1_234, '1,234'],
    [78.6, '79'],
  ])('the count %d reads %s', (value, expected) => {
    expect(count(value)).toBe(expected);
  });

  it.each([
    [0.04, '0.0 ms'],
    [9.94, '9.9 ms'],
    [9.96, '10 ms'],
    [999.4, '999 ms'],
    [999.6, '1.00 s'],
    [2_345, '2.35 s'],
  ])('%d milliseconds read %s', (value, expected) => {
    expect(milliseconds(value)).toBe(expected);
  });
});

describe('progress', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  function follow(isTTY: boolean) {
    const written: string[] = [];
    const progress = new Progress({ isTTY, write: (text) => written.push(text) });
    let seconds = 0;
    const report = progress.follow('cached', () => ({ seconds, requests: 1_200, queries: 3, waiting: 40 }));
    return {
      written,
      report,
      pass: (ms: number) => {
        seconds += ms / 1_000;
        jest.advanceTimersByTime(ms);
      },
    };
  }

  it('is a plain line a second, and one at the end, where nobody sees a cursor', () => {
    const { written, report, pass } = follow(false);
    pass(1_000);
    pass(1_000);
    pass(500);
    report.end();

    expect(written).toHaveLength(3);
    expect(written[0]).toBe(
      '  cached         1.0 s    1,200 answers       3 database queries    40 callers waiting\n',
    );
    expect(written[2]).toContain(' 2.5 s ');
    expect(written.join('')).not.toContain('\u001b');
  });

  it('is one line that is written anew on a terminal', () => {
    const { written, report, pass } = follow(true);
    pass(300);
    report.end();

    const text = written.join('');
    expect(text.match(/\n/g)).toHaveLength(1);
    expect(text.endsWith('\n')).toBe(true);
    expect(text.split('\r')).toHaveLength(5);
  });

  it('ends', () => {
    const { written, report, pass } = follow(false);
    report.end();
    pass(10_000);
    expect(written).toHaveLength(1);
  });
});
