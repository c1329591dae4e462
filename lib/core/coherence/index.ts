export { Baselines, earlyTags, TAG_MARGIN, tokensOf, type Baseline } from './baseline.js';
export { Distrust, nameOf, type Subject } from './distrust.js';
export { Epochs, EVERYTHING } from './epochs.js';
export { TagBook } from './tag-book.js';
export { TickReads, type SharedRead } from './tick-reads.js';
export { Vetting, type EntryOf, type ReadAnswer } from './vetting.js';
