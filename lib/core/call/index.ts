export type { Answer } from './answers.js';
export { judge, readEntry } from './answers.js';
export { Call } from './call.js';
