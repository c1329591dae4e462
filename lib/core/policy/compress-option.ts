import { byteSize, type ByteSize } from '../byte-size.js';
import { COMPRESSIONS, type Compression } from '../codec/index.js';
import { ConfigurationError } from '../errors.js';
import { show } from '../show.js';

/** How values of an entry are compressed in the store. */
export interface CompressOptions {
  /** Of the encoded value; smaller ones are stored as they are. @default '16kb' */
  readonly threshold?: ByteSize;
  /** `'zstd'` only where the Node.js of every process has it (22.15 and later). @default 'brotli' */
  readonly algorithm?: Compression;
}

export interface ResolvedCompression {
  /** Bytes. */
  readonly threshold: number;
  readonly algorithm: Compression;
}

const DEFAULTS: ResolvedCompression = { threshold: 16 * 1_024, algorithm: 'brotli' };
const KNOWN: ReadonlySet<string> = new Set(['threshold', 'algorithm']);
const ANYWHERE: readonly unknown[] = ['brotli', 'gzip', 'deflate', 'zstd'];

/** Undefined: stored as they are. @throws ConfigurationError naming `where`, the option and the value received */
export function resolveCompress(compress: unknown, where: string): ResolvedCompression | undefined {
  if (compress === undefined || compress === false) return undefined;
  if (compress === true) return DEFAULTS;
  if (typeof compress !== 'object' || compress === null || Array.isArray(compress)) {
    throw new ConfigurationError(
      `${where}: compress is true, false or an object such as { threshold: '64kb' }, received ${show(compress)}.`,
    );
  }
  const unknown = Object.entries(compress).find(([name]) => !KNOWN.has(name));
  if (unknown) {
    throw new ConfigurationError(
      `${where}: compress.${unknown[0]} is unknown (${show(unknown[1])}); known: ${[...KNOWN].join(', ')}.`,
    );
  }
  const { threshold, algorithm } = compress as Record<keyof CompressOptions, unknown>; // looked at below
  return { threshold: thresholdOf(threshold, where), algorithm: algorithmOf(algorithm, where) };
}

function thresholdOf(threshold: unknown, where: string): number {
  if (threshold === undefined) return DEFAULTS.threshold;
  const bytes = byteSize(threshold);
  if (bytes !== undefined) return bytes;
  throw new ConfigurationError(
    `${where}: compress.threshold is a whole number of bytes >= 0 or a size such as '64kb', received ${show(threshold)}.`,
  );
}

function algorithmOf(algorithm: unknown, where: string): Compression {
  if (algorithm === undefined) return DEFAULTS.algorithm;
  const known = COMPRESSIONS.find((one) => one === algorithm);
  if (known !== undefined) return known;
  const here = COMPRESSIONS.map(show).join(', ');
  throw new ConfigurationError(
    ANYWHERE.includes(algorithm)
      ? `${where}: compress.algorithm ${show(algorithm)} is not part of Node.js ${process.version}; there are ${here}.`
      : `${where}: compress.algorithm is one of ${here}, received ${show(algorithm)}.`,
  );
}
