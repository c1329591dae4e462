import type { Signal } from '../../lib/core/store.js';
import { freshToken, LONG, type Subject } from './subject.js';

/** Signals in the order of their arrival, without gaps, once they can arrive. */
async function watching(s: Subject, store = s.second) {
  const signals: Signal[] = [];
  await s.eventually('signals reach this client', () => store.pushUp());
  const cancel = store.watch((signal) => {
    if (signal.kind !== 'gap') signals.push(signal);
  });
  return { signals, cancel };
}

const count = async (s: Subject, signals: readonly Signal[], wanted: number): Promise<void> =>
  s.eventually(`${wanted} signals arrived`, () => signals.length >= wanted);

export function signalsContract(subject: () => Subject): void {
  describe('those who watch', () => {
    it('are told of every change of a tag, with the state it has now', async () => {
      const s = subject();
      const { signals, cancel } = await watching(s);
      const id = `tag:${freshToken()}`;
      const state = await s.store.invalidateTag(id, LONG);
      await s.store.expireTag(id);
      const [after] = await s.store.tags([id]);

      await count(s, signals, 2);
      expect(signals).toEqual([
        { kind: 'tag', id, state },
        { kind: 'tag', id, state: after },
      ]);
      cancel();
    });

    it('are told of every clear, with the epoch', async () => {
      const s = subject();
      const { signals, cancel } = await watching(s);
      const scope = `Größe "${freshToken()}"\n`;
      const epochs = [await s.store.clear(scope), await s.second.clear(scope), await s.store.clear('')];

      await count(s, signals, 3);
      expect(signals).toEqual([
        { kind: 'epoch', scope, epoch: epochs[0] },
        { kind: 'epoch', scope, epoch: epochs[1] },
        { kind: 'epoch', scope: '', epoch: epochs[2] },
      ]);
      cancel();
    });

    it('hear of changes made by their own client, too', async () => {
      const s = subject();
      const { signals, cancel } = await watching(s, s.store);
      const id = `tag:${freshToken()}`;
      await s.store.invalidateTag(id, 0);
      await count(s, signals, 1);
      cancel();
    });

    it('hear nothing of what changes nothing', async () => {
      const s = subject();
      const { signals, cancel } = await watching(s);
      const id = `tag:${freshToken()}`;
      await s.store.expireTag(id);
      await s.store.holdTags([id], LONG);
      await s.store.tags([id]);
      await s.store.raiseEpochs(new Map([[id, 5]]));
      await s.store.announce(id, '.1', LONG);
      await s.publish();
      await s.store.clear(id);

      await count(s, signals, 1);
      expect(signals).toEqual([{ kind: 'epoch', scope: id, epoch: expect.any(Number) as number }]);
      cancel();
    });

    it('hear nothing once they have cancelled, and a function that watches twice hears all twice', async () => {
      const s = subject();
      const seen: Signal['kind'][] = [];
      const see = ({ kind }: Signal) => void (kind !== 'gap' && seen.push(kind));
      const { signals, cancel } = await watching(s);
      const cancels = [s.second.watch(see), s.second.watch(see), s.second.watch(see)];
      cancels[0]?.();
      cancels[0]?.();
      await s.store.clear(freshToken());
      await count(s, signals, 1);
      expect(seen).toEqual(['epoch', 'epoch']);
      for (const each of cancels) each();
      await s.store.clear(freshToken());
      await count(s, signals, 2);
      expect(seen).toHaveLength(2);
      cancel();
    });
  });

  describe('how far they have been told', () => {
    it('is a time that moves on with those who ask, and each change before it was handed over', async () => {
      const s = subject();
      const { signals, cancel } = await watching(s);
      const certain = async (after: number): Promise<number> => {
        let told = -Infinity;
        await s.eventually('it is certain', () => (told = s.second.toldUntil()) > after);
        return told;
      };
      let last = await certain(-Infinity);
      for (let round = 1; round <= 3; round++) {
        await s.store.clear(`round-${freshToken()}`);
        // Only a proof begun after the acknowledgement counts.
        await certain(await certain(last));
        expect(signals.length).toBe(round);
        last = s.second.toldUntil();
      }
      cancel();
    });
  });
}
