import { handlerOf, isGrpc, patternsOf } from './handler-kind.js';
import { NOTHING, pick, positions, type Source, type Transport } from './transport.js';

/** `RpcParamtype` of `@nestjs/microservices`. */
const PAYLOAD = 3;
const CONTEXT = 6;
const GRPC_CALL = 9;

export const rpc: Transport = {
  /** Nest hands such a handler the payload whatever its length; over gRPC also the metadata and the call. */
  undeclared({ prototype, method }) {
    const count = isGrpc(prototype, method) ? (handlerOf(prototype, method)?.length ?? 1) : 1;
    return positions([PAYLOAD, CONTEXT, GRPC_CALL], Math.max(1, count));
  },

  sourceOf({ kind, data }): Source {
    switch (kind) {
      case PAYLOAD:
        return { valueOf: ([payload]) => pick(payload, data), use: 'key', label: '@Payload()' };
      case CONTEXT:
        return { valueOf: (args) => args[1], use: 'open', label: '@Ctx()' };
      case GRPC_CALL:
        return { valueOf: (args) => args[2], use: 'open', label: 'the gRPC call' };
      default:
        return NOTHING;
    }
  },

  baseOf({ prototype, method }) {
    const base: readonly unknown[] = [patternsOf(prototype, method)];
    return () => base;
  },
};
