import { EncodedPayload } from '../../../lib/core/entry/index.js';

/** Each decoding makes a new object, and is counted. */
function counting() {
  let runs = 0;
  const serializer = {
    name: 'own',
    encode: () => Buffer.from('x'),
    decode: (): unknown => ({ run: (runs += 1) }),
  };
  return { serializer, runs: () => runs };
}

const payload = () => new EncodedPayload('x', Buffer.from('x'), 'own');
const format = { types: undefined, shared: false } as const;

describe('a decoded value', () => {
  it('is made for each reader', () => {
    const { serializer, runs } = counting();
    const stored = payload();
    const [one, other] = [stored.read({ ...format, serializer }), stored.read({ ...format, serializer })];
    expect(one).not.toBe(other);
    expect(runs()).toBe(2);
  });

  it('is made once where nobody can change it', () => {
    const { serializer, runs } = counting();
    const stored = payload();
    const lasting = { ...format, serializer, isLasting: () => true };
    expect(stored.read(lasting)).toBe(stored.read(lasting));
    expect(runs()).toBe(1);
  });

  it('is asked about one by one, and belongs to its serializer', () => {
    const { serializer, runs } = counting();
    const stored = payload();
    stored.read({ ...format, serializer, isLasting: () => false });
    stored.read({ ...format, serializer, isLasting: () => true });
    expect(runs()).toBe(2);
    const other = counting();
    stored.read({ ...format, serializer: other.serializer, isLasting: () => true });
    expect(other.runs()).toBe(1);
  });
});
