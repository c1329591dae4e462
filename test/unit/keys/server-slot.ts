/** CRC16-CCITT (XMODEM): polynomial 0x1021, start 0, as the Redis Cluster specification defines it. */
function crc16(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++)
      crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : (crc << 1) & 0xffff;
  }
  return crc;
}

/** The slot a Redis Cluster server computes: over the text between the first `{` and the first `}` after it, if there is any. */
export function serverSlot(key: string): number {
  const bytes = Buffer.from(key);
  const open = bytes.indexOf('{');
  const close = open === -1 ? -1 : bytes.indexOf('}', open + 1);
  return crc16(close > open + 1 ? bytes.subarray(open + 1, close) : bytes) % 16384;
}
