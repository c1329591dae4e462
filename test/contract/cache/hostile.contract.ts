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
      bornAt: 2,
      ttl: 1_000,
      hard: 1_000,
      epoch: 0,
      tags: [],
    } as const;
    const future = (id: string, digest: string, payload = ''): Buffer =>
      Buffer.concat([encodeHeader({ ...header, id, digest, size: payload.length }), Buffer.from(payload)]);
    const cases: [string, (digest: string) => Buffer][] = [
      ['nothing', () => Buffer.alloc(0)],
      ['noise', () => Buffer.from(Array.from({ length: 300 }, (_, i) => (i * 97) % 256))],
      [
        'another wire version',
        (digest) => Buffer.from(`3${future(header.id, digest, '1').toString('latin1').slice(1)}`),
      ],
      ['an entry of another key', () => future(header.id, 'other678', '1')],
      ['a cut payload', (digest) => future(header.id, digest, '{"a":')],
      ['a cut number', (digest) => future(header.id, digest, '123').subarray(0, -1)],
      ['a number and more', (digest) => Buffer.concat([future(header.id, digest, '12'), Buffer.from('3')])],
      ['an id beyond ASCII', (digest) => future('\u00e9\u00ff\u0080defghijklmnopqrstuv', digest, '{')],
      [
        'a header that lies about its length',
        (digest) =>
          Buffer.from(
            future(header.id, digest)
              .toString('latin1')
              .replace(/(?<=^.{68})\d{4}/, '9999'),
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
