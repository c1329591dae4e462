import { encodeHeader } from '../../../lib/core/entry/index.js';
import type { Subject } from './subject.js';

export function hostileContract(subject: () => Subject): void {
  describe('bytes that are no entry of this key', () => {
    const header = {
      kind: 'value',
      codec: 'j',
      softAt: 9_000_000_000_000,
      loadStart: 1,
      sourceVersion: 0,
      id: 'abcdefghijklmnopqrstuv',
      cost: 1,
      ttl: 1_000,
      hard: 1_000,
    } as const;
    const future = (id: string, digest: string): Buffer => encodeHeader({ ...header, id, digest });
    const cases: [string, (digest: string) => Buffer][] = [
      ['nothing', () => Buffer.alloc(0)],
      ['noise', () => Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 97) % 256))],
      [
        'another wire version',
        (digest) => Buffer.from(`2${future(header.id, digest).toString('latin1').slice(1)}1`),
      ],
      ['an entry of another key', () => Buffer.concat([future(header.id, 'other678'), Buffer.from('1')])],
      ['a cut payload', (digest) => Buffer.concat([future(header.id, digest), Buffer.from('{"a":')])],
      [
        'an id beyond ASCII',
        (digest) =>
          Buffer.concat([future('\u00e9\u00ff\u0080defghijklmnopqrstuv', digest), Buffer.from('{')]),
      ],
      [
        'a header that lies about its length',
        (digest) =>
          Buffer.from(
            future(header.id, digest)
              .toString('latin1')
              .replace(/(?<=^.{68})\d{3}/, '999'),
            'latin1',
          ),
      ],
      ['JSON of a plain cache', () => Buffer.from(JSON.stringify({ value: 1, expires: 2 }).repeat(9))],
    ];
    it.each(cases)('are a miss, and replaced once: %s', async (_, make) => {
      const s = subject();
      const [a, b] = [await s.process(), await s.process()];
      const { key } = a.request('k', () => undefined, {});
      await a.store.write(key, make(key.digest), 60_000);
      let loads = 0;
      const load = (): string => ((loads += 1), 'loaded');
      const values = await Promise.all([a.get('k', load), b.get('k', load), a.get('k', load)]);

      expect(values).toEqual(['loaded', 'loaded', 'loaded']);
      expect(loads).toBe(1);
      expect((await b.peek('k'))?.value).toBe('loaded');
    });
  });
}
