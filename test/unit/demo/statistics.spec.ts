import { buckets, percentile } from '../../../sample-app/src/demo/statistics.js';

describe('percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, n) => 100 - n);

  it.each([
    [0, 1],
    [0.5, 50],
    [0.99, 99],
    [0.995, 100],
    [1, 100],
  ])('%d of 1..100 in any order is %d', (fraction, expected) => {
    expect(percentile(hundred, fraction)).toBe(expected);
  });

  it('sorts numbers as numbers', () => {
    expect(percentile([9, 10, 100], 0.5)).toBe(10);
  });

  it('of a single value is that value', () => {
    expect(percentile([7], 0.5)).toBe(7);
  });

  it('of nothing is NaN', () => {
    expect(percentile([], 0.5)).toBeNaN();
  });

  it('leaves its input in order', () => {
    const values = [3, 1, 2];
    percentile(values, 0.5);
    expect(values).toEqual([3, 1, 2]);
  });
});

describe('buckets', () => {
  it('count what falls into each interval, whose end belongs to the next', () => {
    expect(buckets([0, 49.9, 50, 120], 50, 150)).toEqual([2, 1, 1]);
  });

  it('keep empty intervals', () => {
    expect(buckets([], 50, 200)).toEqual([0, 0, 0, 0]);
  });

  it('cover an end that is no multiple of the width', () => {
    expect(buckets([101], 50, 102)).toEqual([0, 0, 1]);
  });

  it('leave out what is later', () => {
    expect(buckets([10, 100, 5_000], 50, 100)).toEqual([1, 0]);
  });
});
