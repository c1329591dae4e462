import { readOnlyReconnects } from '../../../lib/redis/read-only-reconnects.js';

const READONLY = new Error("READONLY You can't write against a read only replica.");

describe('reconnects after READONLY', () => {
  let now: number;
  let reconnects: (error: Error) => boolean;
  beforeEach(() => {
    now = 5_000;
    reconnects = readOnlyReconnects(() => now);
  });

  /** When there was one, in ms, with a READONLY every 100 ms. */
  function reconnectsIn(ms: number): number[] {
    const start = now;
    const made: number[] = [];
    for (; now < start + ms; now += 100) if (reconnects(READONLY)) made.push(now - start);
    return made;
  }

  it('are made at once, and rarely while the server stays a replica', () => {
    expect(reconnectsIn(16_000)).toEqual([0, 1_000, 3_000, 7_000, 11_000, 15_000]);
  });

  it('are made twice a minute once it has been one for long', () => {
    reconnectsIn(62_000);
    expect(reconnectsIn(120_000).length).toBeLessThanOrEqual(5);
  });

  it('are made at once again after a time of peace', () => {
    reconnectsIn(10_000);
    now += 61_000;
    expect(reconnectsIn(500)).toEqual([0]);
  });

  it('are made for what a script ran into, and for nothing else', () => {
    expect(reconnects(new Error('WRONGTYPE'))).toBe(false);
    expect(reconnects(new Error('ERR Error running script (...): -READONLY You ...'))).toBe(true);
  });
});
