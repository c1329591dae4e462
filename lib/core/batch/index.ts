export { answerMany, bypassMany, type ManyOrder } from './answer-many.js';
export { splitManyPolicy, type AnyManyPolicy, type ManyOptions, type ManyPolicy } from './many-options.js';
export type { InferringLoadManyContext, LoadManyContext } from './load-many-context.js';
export { Pace } from './pace.js';
