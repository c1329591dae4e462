export { judge, NOT_FOUND, readEntry, turnToRead, UNSTORED, type Answer } from './answers.js';
export { Call } from './call.js';
export { PlainCalls } from './plain-calls.js';
export { serveNear } from './serve.js';
export type { Together } from './together.js';
