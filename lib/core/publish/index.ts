export { isPackedError, readEndNote, writeEndNote, type EndNote } from './end-note.js';
export { asUserSays, planFor, uncacheable, type Draft, type Plan, type Planning } from './plan.js';
export { Publisher, type PublishResult } from './publisher.js';
