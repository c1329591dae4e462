export { addCookies, applyHead, toNotModified } from './apply-head.js';
export {
  cacheControlOf,
  checkCacheControl,
  type CacheControlInput,
  type EntryLife,
} from './cache-control.js';
export {
  addCacheStatus,
  cacheStatusOf,
  cacheStatusWith,
  type CacheStatus,
  type ForwardReason,
} from './cache-status.js';
export { etagOf, isNotModified } from './etag.js';
export { shadowOf, type ScopeReader } from './install-shadow.js';
export { isJsonPlain, jsonContentType, toJsonText } from './json-text.js';
export { replyOf } from './reply-of.js';
export type { HeaderValue, Platform, Reply } from './reply.js';
export { parseDirectives, type RequestDirectives } from './request-directives.js';
export type { RecordedResponse, ShadowResponse, ShadowScope } from './shadow-response.js';
export { varyWith } from './vary.js';
