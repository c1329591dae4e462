/** Slots of a Redis Cluster. */
const SLOTS = 16_384;

/** CRC-16/XMODEM: polynomial 0x1021, initial value 0, as the Redis Cluster specification has it. */
const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc & 0xffff;
});

/** The slot of a key. Only what stands in its first `{…}`, if anything does, is hashed. */
export function keySlot(key: string): number {
  let crc = 0;
  for (const byte of Buffer.from(hashed(key)))
    crc = ((crc << 8) ^ (TABLE[((crc >> 8) ^ byte) & 0xff] ?? 0)) & 0xffff;
  return crc % SLOTS;
}

function hashed(key: string): string {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open);
  return close > open + 1 ? key.slice(open + 1, close) : key;
}
