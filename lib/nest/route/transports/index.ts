export {
  graphqlRoleOf,
  handlerKindOf,
  handlerKindsOf,
  isReachedByClassMark,
  neverCached,
  type GraphqlRole,
  type HandlerKind,
} from './handler-kind.js';
export { mayCache, type PassReason } from './may-cache.js';
export { carriedCredentials } from './request.js';
export { resolveTransportInputs, type TransportHandler, type TransportKind } from './transport-inputs.js';
