export { answerPlain } from './answer-plain.js';
export { judge, NOT_FOUND, readEntry, turnToRead, UNSTORED, type Answer } from './answers.js';
export { Call } from './call.js';
export { serveNear } from './serve.js';
