export { isPackedError, readEndNote, writeEndNote, type EndNote } from './end-note.js';
export { lateTags } from './late-tags.js';
export { packedDraft, packedPlan } from './packed.js';
export { asUserSays, planFor, uncacheable, type Draft, type Plan, type Planning } from './plan.js';
export { packWithin, Publisher, type Loaded, type PublishResult } from './publisher.js';
