import * as zlib from 'node:zlib';

/** How a payload may be compressed. `zstd` only where this Node.js has it (22.15 and later). */
export type Compression = 'gzip' | 'brotli' | 'deflate' | 'zstd';

interface Options {
  readonly chunkSize: number;
  readonly maxOutputLength: number;
  readonly level?: number;
  readonly params?: Readonly<Record<number, number>>;
}

/** What `info` makes of a result; `bytesWritten` is how much of the input was taken. */
interface Outcome {
  readonly buffer: Buffer;
  readonly engine: { readonly bytesWritten: number };
}

type Run = (
  bytes: Buffer,
  options: Options & { readonly info: true },
  done: (error: Error | null, outcome: Outcome) => void,
) => void;

interface Method {
  readonly compress: Run;
  readonly decompress: Run;
  /** Each at its fastest useful setting. */
  readonly settings: (size: number) => Pick<Options, 'level' | 'params'>;
}

/** The types know no `info`, and those of Node.js 20 no zstd, which it does not have. */
const engines = zlib as unknown as Readonly<
  Record<'gzip' | 'gunzip' | 'deflate' | 'inflate' | 'brotliCompress' | 'brotliDecompress', Run>
> & { readonly zstdCompress?: Run; readonly zstdDecompress?: Run };
const ZSTD_LEVEL = 100; // ZSTD_c_compressionLevel

const FASTEST = { level: 1 };
const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = zlib.constants;

const METHODS: Readonly<Record<Compression, Method | undefined>> = {
  gzip: { compress: engines.gzip, decompress: engines.gunzip, settings: () => FASTEST },
  deflate: { compress: engines.deflate, decompress: engines.inflate, settings: () => FASTEST },
  brotli: {
    compress: engines.brotliCompress,
    decompress: engines.brotliDecompress,
    settings: (size) => ({ params: { [BROTLI_PARAM_QUALITY]: 1, [BROTLI_PARAM_SIZE_HINT]: size } }),
  },
  zstd: engines.zstdCompress &&
    engines.zstdDecompress && {
      compress: engines.zstdCompress,
      decompress: engines.zstdDecompress,
      settings: () => ({ params: { [ZSTD_LEVEL]: 1 } }),
    },
};

/** Those that this Node.js has, the default first. */
export const COMPRESSIONS: readonly Compression[] = (['brotli', 'gzip', 'deflate', 'zstd'] as const).filter(
  (name) => METHODS[name] !== undefined,
);

/** What most values become smaller by. One piece of output is one trip to another thread, and one less to join. */
const USUAL_RATIO = 4;
const SMALLEST_CHUNK = 64 * 1024;
/** The least that Node.js takes. */
const LEAST_CHUNK = 64;

/** Compresses off the event loop. Rejects where more than `most` bytes would come out. */
export function compress(algorithm: Compression, bytes: Buffer, most: number): Promise<Buffer> {
  const method = methodOf(algorithm);
  const chunkSize = Math.max(LEAST_CHUNK, most);
  return run(method.compress, bytes, { chunkSize, maxOutputLength: most, ...method.settings(bytes.length) });
}

/** The reverse. Rejects, at the cost of `most` bytes, where more would come out, and for what is not, to its last byte, compressed so. */
export function decompress(algorithm: Compression, bytes: Buffer, most: number): Promise<Buffer> {
  const likely = Math.max(SMALLEST_CHUNK, bytes.length * USUAL_RATIO);
  const chunkSize = Math.max(LEAST_CHUNK, Math.min(likely, most));
  return run(methodOf(algorithm).decompress, bytes, { chunkSize, maxOutputLength: most });
}

function methodOf(algorithm: Compression): Method {
  const method = METHODS[algorithm];
  if (method === undefined) throw new Error(`Node.js ${process.version} has no ${algorithm}.`);
  return method;
}

function run(method: Run, bytes: Buffer, options: Options): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    method(bytes, { ...options, info: true }, (error, outcome) => {
      if (error) return reject(error);
      const { buffer, engine } = outcome;
      // Node.js stops at the end of a stream: to brotli, 4 of 100 random inputs begin with a whole, empty one.
      if (engine.bytesWritten < bytes.length) return reject(new Error('Bytes follow the end of the stream.'));
      resolve(buffer);
    });
  });
}
