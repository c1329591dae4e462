export { isPackedError, readEndNote, writeEndNote, type EndNote } from './end-note.js';
export { lateTags } from './late-tags.js';
export { asUserSays, planFor, uncacheable, type Draft, type Plan, type Planning } from './plan.js';
export { Publisher, type Loaded, type PublishResult } from './publisher.js';
