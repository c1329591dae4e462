import type { Advice } from '../advice.js';
import { compress, COMPRESSIONS, decompress, type Compression } from '../codec/index.js';
import { Lane, LATE } from '../lane.js';
import type { ResolvedPolicy } from '../policy/index.js';
import type { Timers } from '../ports.js';
import { show } from '../show.js';
import type { PackedPayload } from './stored-entry.js';

/** The bytes of a payload as they are to lie in the store. */
export interface PayloadAtRest {
  readonly compression: Compression | undefined;
  readonly bytes: Buffer;
}

/** Node.js has four threads for it, which it shares with files and names of hosts. */
const PACKED_AT_ONCE = 2;
const UNPACKED_AT_ONCE = 4;
/** What does not become smaller by a tenth is not worth unpacking at each read. */
const MOST_OF_PLAIN = 0.9;
/** The longest a reader waits for the bytes of an entry, ms: only threads that all hang take as long. */
const UNPACKED_WITHIN = 2_000;

/** Compresses payloads and the reverse, off the event loop and so many at once. */
export class Packing {
  private readonly packs: Lane;
  private readonly unpacks: Lane;

  constructor(
    timers: Timers,
    private readonly advice: Advice,
    /** No payload is larger, however small it was packed. */
    private readonly maxValueBytes: number,
  ) {
    this.packs = new Lane(timers, PACKED_AT_ONCE);
    this.unpacks = new Lane(timers, UNPACKED_AT_ONCE);
  }

  /** Whether the policy wants these bytes compressed. */
  wants({ compress: wanted }: Pick<ResolvedPolicy, 'compress'>, bytes: Buffer): boolean {
    return wanted !== undefined && bytes.length >= wanted.threshold;
  }

  /** The bytes compressed as the policy says, or as they are where that is no gain or takes longer than `ms`. Never rejects. */
  async pack(
    bytes: Buffer,
    { compress: wanted }: Pick<ResolvedPolicy, 'compress'>,
    ms: number,
  ): Promise<PayloadAtRest> {
    const plain = { compression: undefined, bytes };
    const most = Math.floor(bytes.length * MOST_OF_PLAIN);
    if (wanted === undefined || most === 0) return plain;
    const { algorithm } = wanted;
    try {
      const packed = await this.packs.run(() => compress(algorithm, bytes, most), ms);
      if (packed !== LATE) return { compression: algorithm, bytes: packed };
      this.advise(`took longer than ${Math.round(ms)} ms`);
    } catch (error) {
      if (!isNoGain(error)) this.advise(`failed with ${show(error)}`);
    }
    return plain;
  }

  /** The payload as it was; undefined: these bytes are none, or belong to no value that may be stored; LATE: none came in time. */
  async unpack({ compression, bytes }: PackedPayload): Promise<Buffer | undefined | typeof LATE> {
    if (!COMPRESSIONS.includes(compression)) return undefined;
    try {
      const unpack = (): Promise<Buffer> => decompress(compression, bytes, this.maxValueBytes);
      return await this.unpacks.run(unpack, UNPACKED_WITHIN);
    } catch {
      return undefined;
    }
  }

  private advise(what: string): void {
    this.advice.sometimes('compress', () => `Compressing a value ${what}. It is stored as it is.`);
  }
}

/** More than the bound came out. By structure: Node.js' own errors are none of a test runner's. */
function isNoGain(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE'
  );
}
