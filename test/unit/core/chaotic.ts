import type { Store } from '../../../lib/core/store.js';
import type { FakeRuntime } from '../../support/fake-runtime.js';

/** Uniform in [0, 1), alike for one seed. */
export function rng(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A store whose every operation takes its time before and after its effect, fails at times, and whose push comes and goes. */
export function chaotic(inner: Store, fake: FakeRuntime, random: () => number, faults: number): Store {
  const pause = (): Promise<void> =>
    new Promise((resolve) => void fake.runtime.timers.after(Math.floor(random() * 12), resolve));
  const asynchronous = new Set([
    'read',
    'acquire',
    'commit',
    'touch',
    'renew',
    'release',
    'put',
    'write',
    'invalidate',
  ]);
  let up = true;
  return new Proxy(inner, {
    get(target, name) {
      if (name === 'close') return async () => undefined;
      if (name === 'pushUp') return () => up;
      if (name === 'listen')
        return (key: never, onWake: (wake: never) => void) =>
          target.listen(key, (wake) => {
            if (random() >= faults) onWake(wake as never);
            if (random() < faults) onWake(wake as never);
          });
      const member = Reflect.get(target, name) as (...args: unknown[]) => unknown;
      if (typeof member !== 'function') return member;
      if (!asynchronous.has(String(name))) return member.bind(target);
      return async (...args: unknown[]) => {
        if (random() < faults) up = !up;
        await pause();
        if (random() < faults) throw new Error('lost before');
        const reply = await (member.apply(target, args) as Promise<unknown>);
        await pause();
        if (random() < faults) throw new Error('lost after');
        return reply;
      };
    },
  });
}
