export { CodecConfigurationError, DecodeError, UncacheableValue } from './codec-errors.js';
export { compress, COMPRESSIONS, decompress, type Compression } from './compress.js';
export { decodeText, decodeValue, textOf } from './decode.js';
export { encodeValue, type Encoded } from './encode.js';
export { deepFreeze, freezeJson } from './freeze.js';
export { resolveTypes, type Class, type TypeMap, type TypeOption } from './types.js';
export { copyTree, isTree } from './tree.js';
