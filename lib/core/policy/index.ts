export type { ErrorMatcher, Policy, Serializer } from './policy.js';
export type { CompressOptions } from './compress-option.js';
export { resolveCall, PLAIN_CALL, type CallOptions, type ResolvedCall } from './call-options.js';
export type { ResolvedPolicy } from './resolved-policy.js';
export { RecentPolicies } from './recent-policies.js';
export { resolvePolicy, type AnyPolicy } from './resolve-policy.js';
