export { createNodeRuntime, type NodeRuntimeOptions } from './node-runtime.js';
