import fc from 'fast-check';
import { formatEpochs, parseEpochs } from '../../lib/redis/epoch-lines.js';
import { parseLiveLease } from '../../lib/redis/lease-record.js';
import {
  endedMessage,
  invalidatedMessage,
  epochMessage,
  parseMessage,
  tagMessage,
  publishedMessage,
} from '../../lib/redis/message.js';
import { parseTagRecord } from '../../lib/redis/tag-record.js';

const RANDOM = 'abc-DEF_123';
const SOFT = 'zyx-WVU_987';
const TOKEN = 'abcdefghijklmnopqrst-_';

describe('a wake-up message', () => {
  it('brings any id and any outcome through', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (id, outcome) => {
        expect(parseMessage(publishedMessage(id))).toEqual({ id, wake: { kind: 'published' } });
        expect(parseMessage(invalidatedMessage(id))).toEqual({ id, wake: { kind: 'invalidated' } });
        const ended = { kind: 'ended', token: TOKEN, outcome };
        expect(parseMessage(endedMessage(id, TOKEN, outcome))).toEqual({ id, wake: ended });
      }),
    );
  });

  it('brings the state of any tag and the epoch of any scope through', () => {
    const record = `i1700000000123${RANDOM}17000000601231700000000500${SOFT}`;
    const hard = (1_700_000_000_123).toString(36) + RANDOM;
    const soft = (1_700_000_000_500).toString(36) + SOFT;
    const times = {
      softAt: 1_700_000_000_500,
      invalidatedAt: 1_700_000_000_123,
      heldUntil: 1_700_000_060_123,
    };
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(), (text, epoch) => {
        const tag = { kind: 'tag', id: text, state: { hard, soft, ...times } };
        expect(parseMessage(tagMessage(text) + record)).toEqual({ signal: tag });
        const raised = { kind: 'epoch', scope: text, epoch };
        expect(parseMessage(epochMessage(text) + String(epoch))).toEqual({ signal: raised });
      }),
    );
  });

  it.each(['t  3 tag', 't  3 tagi17', 'c  2 ""', 'c  2 ""x', 'c  2 {}5', 'c  1 "5', 't  99 tag'])(
    'is no signal when it is cut or spoilt: %j',
    (text) => {
      expect(parseMessage(text)).toBeUndefined();
    },
  );

  it('is told from anything else', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        fc.pre(!/^[pietc] /.test(text));
        expect(parseMessage(text)).toBeUndefined();
      }),
    );
  });
});

describe('an epoch that is absurdly far ahead', () => {
  const LATEST = 1_700_000_000_000;

  it('is no signal and no line', () => {
    for (const digits of [String(LATEST + 1), '9'.repeat(30), '9'.repeat(400)]) {
      expect(parseMessage(epochMessage('a') + digits, LATEST)).toBeUndefined();
      expect(parseEpochs(`${digits} - "a"\n5 - "b"\n`, LATEST)).toEqual(new Map([['b', 5]]));
    }
    expect(parseMessage(epochMessage('a') + String(LATEST), LATEST)).toBeDefined();
    expect(parseEpochs(`${LATEST} - "a"\n`, LATEST)).toEqual(new Map([['a', LATEST]]));
  });

  it('is none either where no bound is given, beyond what a number holds', () => {
    expect(parseMessage(`${epochMessage('a')}9007199254740993`)).toBeUndefined();
    expect(parseEpochs('9007199254740993 - "a"\n').size).toBe(0);
  });
});

describe('a lease value', () => {
  it('of a live lease tells who holds it since when', () => {
    expect(parseLiveLease(`L${TOKEN}w0031700000000123web-1/42`)).toEqual({
      holder: 'web-1/42',
      since: 1_700_000_000_123,
    });
  });

  it.each(['', `E${TOKEN}-00017000000001231700000000124`, `L${TOKEN}`, 'L'.repeat(60), 'H1700000000124'])(
    '%j is none',
    (value) => {
      expect(parseLiveLease(value)).toBeUndefined();
    },
  );
});

describe('the record of a tag', () => {
  const created = `c1700000000123${RANDOM}${'0'.repeat(26)}${'-'.repeat(11)}`;

  it('that was created has neither an invalidation, nor a hold-off, nor a soft part', () => {
    const hard = (1_700_000_000_123).toString(36) + RANDOM;
    const state = { hard, soft: '', softAt: 0, invalidatedAt: 0, heldUntil: 0 };
    expect(parseTagRecord(created)).toEqual(state);
  });

  it.each(['', 'x', created.slice(1), `${created}-`, `x${created.slice(1)}`, created.replace('1', 'one')])(
    '%j is none',
    (text) => {
      expect(parseTagRecord(text)).toBeUndefined();
    },
  );
});

describe('the record of a tag with a time that cannot be', () => {
  const LATEST = 1_700_000_000_000;
  const CENTURY = 100 * 365 * 86_400_000;
  const of = (at: number, heldUntil: number, softAt: number): string =>
    `i${at}${RANDOM}${String(heldUntil).padStart(13, '0')}${String(softAt).padStart(13, '0')}${SOFT}`;

  it.each([
    ['the invalidation', of(LATEST + 1, 0, 0), of(LATEST, 0, 0)],
    ['the soft expiry', of(LATEST, 0, LATEST + 1), of(LATEST, 0, LATEST)],
    ['the hold-off', of(LATEST, LATEST + CENTURY + 1, 0), of(LATEST, LATEST + CENTURY, 0)],
  ])('is none: %s', (_, absurd, possible) => {
    expect(parseTagRecord(absurd, LATEST)).toBeUndefined();
    expect(parseTagRecord(possible, LATEST)).toBeDefined();
  });
});

describe('the lines of epochs', () => {
  it('bring any scopes through', () => {
    const scopes = fc.dictionary(fc.string({ unit: 'binary' }), fc.nat());
    fc.assert(
      fc.property(scopes, (epochs) => {
        const map = new Map(Object.entries(epochs));
        expect(parseEpochs(formatEpochs(map))).toEqual(map);
      }),
    );
  });

  it('that are none of ours are passed over', () => {
    expect(parseEpochs('x\n5 - "a"\n6 - a\n7 "b"\n - "c"\n8 abc "d"\n')).toEqual(
      new Map([
        ['a', 5],
        ['d', 8],
      ]),
    );
  });
});
