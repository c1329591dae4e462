import { keySlot } from '../../../lib/redis/key-slot.js';

describe('the slot of a key', () => {
  it.each([
    ['123456789', 12739], // the specification's own example: CRC16 0x31C3
    ['foo', 12182],
    ['shop:d:{foo}v2', 12182],
    ['', 0],
  ])('of %j is %i', (key, slot) => {
    expect(keySlot(key)).toBe(slot);
  });

  it('ignores braces around nothing, and hashes only what the first pair holds', () => {
    expect(keySlot('{}a')).not.toBe(keySlot('{}b'));
    expect(keySlot('{a}{b}')).toBe(keySlot('a'));
    expect(keySlot('x{a')).not.toBe(keySlot('a'));
  });
});
