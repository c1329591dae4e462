export { Changes } from './changes.js';
