import { handlerOf, messageOf } from './handler-kind.js';
import { NOTHING, pick, positions, type Source, type Transport } from './transport.js';

/** `WsParamtype` of `@nestjs/websockets`. */
const SOCKET = 0;
const PAYLOAD = 3;
const ACK = 13;

export const ws: Transport = {
  undeclared({ prototype, method }) {
    return positions([SOCKET, PAYLOAD, ACK], handlerOf(prototype, method)?.length ?? 0);
  },

  sourceOf({ kind, data }): Source {
    switch (kind) {
      case SOCKET:
        return { valueOf: ([client]) => client, use: 'open', label: '@ConnectedSocket()' };
      case PAYLOAD:
        return { valueOf: ([, payload]) => pick(payload, data), use: 'key', label: '@MessageBody()' };
      case ACK:
        return { valueOf: (args) => args.find(isFunction), use: 'never', label: '@Ack()' };
      default:
        return NOTHING;
    }
  },

  baseOf({ prototype, method }) {
    const base: readonly unknown[] = [messageOf(prototype, method)];
    return () => base;
  },
};

function isFunction(value: unknown): boolean {
  return typeof value === 'function';
}
