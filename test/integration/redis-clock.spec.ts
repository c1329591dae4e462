import { ServerClock } from '../../lib/redis/server-clock.js';

/** A clock moved by hand, a server whose wall clock runs beside it, and the replies that tell of it. */
function setUp() {
  let now = 1000;
  let offset = 1_700_000_000_000;
  const clock = new ServerClock({ now: () => now }, 0);
  return {
    clock,
    pass: (ms: number) => void (now += ms),
    setServer: (ms: number) => void (offset += ms),
    /** A command that is `there` ms on its way to the server and `back` ms on its way back. */
    reply: (there: number, back: number): void => {
      const sentAt = now;
      now += there;
      const serverNow = Math.floor(now + offset);
      now += back;
      clock.sample(sentAt, serverNow);
    },
    error: () => clock.now() - (now + offset),
  };
}

describe('the server clock', () => {
  it('starts with the guess it was given', () => {
    const { clock, pass } = setUp();
    expect(clock.now()).toBe(0);
    pass(250);
    expect(clock.now()).toBe(250);
  });

  it('errs by half a round trip at most', () => {
    const { reply, error } = setUp();
    reply(0, 20);
    expect(Math.abs(error())).toBeLessThanOrEqual(11);
  });

  it('keeps the reply with the smallest round trip, whatever comes after it', () => {
    const { reply, error } = setUp();
    reply(0.2, 0.2);
    reply(0, 900);
    reply(300, 0);
    expect(Math.abs(error())).toBeLessThanOrEqual(1.5);
  });

  it('forgets it after a minute: oscillators drift', () => {
    const { reply, pass, setServer, error } = setUp();
    reply(0, 0);
    for (let second = 0; second < 90; second++) {
      pass(1000);
      setServer(0.1);
      reply(1, 1);
    }
    // 9 ms of drift in all; a best sample kept for ever would be off by that.
    expect(Math.abs(error())).toBeLessThanOrEqual(7);
  });

  it('follows a server whose clock was set, at once', () => {
    const { reply, setServer, error } = setUp();
    reply(0.1, 0.1);
    setServer(-5000);
    reply(2, 2);
    expect(Math.abs(error())).toBeLessThanOrEqual(3);
  });

  it('is not confused by a reply without a time', () => {
    const { clock, reply, error } = setUp();
    reply(0, 0);
    clock.sample(1000, NaN);
    expect(Math.abs(error())).toBeLessThanOrEqual(1);
  });
});
