/** How much data a reply holds. */
export function bytesIn(reply: unknown): number {
  if (Array.isArray(reply)) return reply.reduce((sum: number, each: unknown) => sum + bytesIn(each), 0);
  return Buffer.isBuffer(reply) ? reply.length : 0;
}
