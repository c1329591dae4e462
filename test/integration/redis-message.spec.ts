import fc from 'fast-check';
import { parseLiveLease } from '../../lib/redis/lease-record.js';
import {
  endedMessage,
  invalidatedMessage,
  parseWakeMessage,
  publishedMessage,
} from '../../lib/redis/wake-message.js';

const TOKEN = 'abcdefghijklmnopqrst-_';

describe('a wake-up message', () => {
  it('brings any id and any outcome through', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (id, outcome) => {
        expect(parseWakeMessage(publishedMessage(id))).toEqual({ id, wake: { kind: 'published' } });
        expect(parseWakeMessage(invalidatedMessage(id))).toEqual({ id, wake: { kind: 'invalidated' } });
        const ended = { kind: 'ended', token: TOKEN, outcome };
        expect(parseWakeMessage(endedMessage(id, TOKEN, outcome))).toEqual({ id, wake: ended });
      }),
    );
  });

  it('is told from anything else', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^[pie] /.test(text));
        expect(parseWakeMessage(text)).toBeUndefined();
      }),
    );
  });
});

describe('a lease value', () => {
  it('of a live lease tells who holds it since when', () => {
    expect(parseLiveLease(`L${TOKEN}w0031700000000123web-1/42`)).toEqual({
      holder: 'web-1/42',
      since: 1_700_000_000_123,
    });
  });

  it.each(['', `E${TOKEN}-00017000000001231700000000124`, `L${TOKEN}`, 'L'.repeat(60)])(
    '%j is none',
    (value) => {
      expect(parseLiveLease(value)).toBeUndefined();
    },
  );
});
