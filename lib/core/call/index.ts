export { judge, readEntry, UNSTORED, type Answer } from './answers.js';
export { Call } from './call.js';
