import { Origin } from '../../support/origin.js';
import type { Subject } from './subject.js';

/** Builds with different versions of an entry, side by side. */
export function versionsContract(subject: () => Subject): void {
  describe('two versions of an entry', () => {
    const builds = async (...versions: (string | undefined)[]) =>
      Promise.all(
        versions.map(async (version) => {
          const process = await subject().process();
          process.version = version;
          return process;
        }),
      );

    for (const versions of [
      ['1', '2'],
      [undefined, '2'],
      ['2', undefined],
    ]) {
      it(`(${String(versions[0])}, ${String(versions[1])}) live side by side, and a change by either reaches both`, async () => {
        const [a, b] = (await builds(...versions)) as [never, never] as unknown as Awaited<
          ReturnType<Subject['process']>
        >[];
        if (!a || !b) throw new Error('two builds');
        await a.get('k', () => 'a 1');
        await b.get('k', () => 'b 1');
        expect(await a.get('k', () => 'a 2')).toBe('a 1');
        expect(await b.get('k', () => 'b 2')).toBe('b 1');
        await a.invalidate('k');
        expect(await a.peek('k')).toBeUndefined();
        expect(await b.peek('k')).toBeUndefined();
        await b.get('k', () => 'b 3');
        await a.set('k', 'a 3');
        expect(await b.peek('k')).toBeUndefined();
        expect((await a.peek('k'))?.value).toBe('a 3');
      });
    }

    it('are fenced alike: a load of one build is revoked by the other', async () => {
      const [a, b] = await builds('1', '2');
      const origin = new Origin();
      const before = a?.get('k', origin.load);
      await origin.started(1);
      await b?.invalidate('k');
      await origin.give('old');

      expect(await before).toBe('old');
      if (a) await subject().happened(a, 'publish');
      expect(await a?.peek('k')).toBeUndefined();
    });

    it('are both expired softly', async () => {
      const [a, b] = await builds('1', '2');
      const policy = { ttl: 60_000, stale: 60_000 };
      await a?.get('k', () => 'a', policy);
      await b?.get('k', () => 'b', policy);
      await a?.expire('k');

      expect(await b?.entry('k', () => 'b 2', policy)).toMatchObject({ value: 'b', outcome: 'stale' });
    });

    it('show in inspect', async () => {
      const [a] = await builds('2026-11');
      await a?.get('k', () => 'v');

      expect(await a?.cache.entries.inspect(a.about('k'))).toMatchObject({ version: '2026-11' });
    });

    it('a variant that a later build announces is dropped too', async () => {
      const [a] = await builds(undefined);
      if (!a) throw new Error('one build');
      const key = { ...a.about('k').key, variant: '~9' };
      await a.store.announce(a.name, '~9', 60_000);
      await a.store.write(key, Buffer.from('in a format of the future'), 60_000);
      await a.invalidate('k');

      expect(await a.store.read(key)).toBeNull();
    });
  });
}
