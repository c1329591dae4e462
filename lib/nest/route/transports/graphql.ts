import { graphqlRoleOf, handlerOf } from './handler-kind.js';
import { NOTHING, pick, positions, type Source, type Transport } from './transport.js';

/** `GqlParamtype` of `@nestjs/graphql`. */
const ROOT = 0;
const CONTEXT = 1;
const INFO = 2;
const ARGS = 3;

/** What of `GraphQLResolveInfo` is read here. */
export interface FieldInfo {
  readonly fieldName: string;
  readonly parentType: { readonly name: string };
  readonly operation: { readonly operation: string };
}

/** Where the four things stand; a reference resolver is called without arguments of a field. */
export interface FieldCall {
  readonly root: unknown;
  readonly args: unknown;
  readonly context: unknown;
  readonly info: FieldInfo | undefined;
}

export function fieldCallOf(call: readonly unknown[]): FieldCall {
  const [root, args, context, info] = call.length === 3 ? [call[0], undefined, call[1], call[2]] : call;
  return { root, args, context, info: isFieldInfo(info) ? info : undefined };
}

export const graphql: Transport = {
  undeclared({ prototype, method }) {
    const count = handlerOf(prototype, method)?.length ?? 0;
    const isReference = graphqlRoleOf(prototype, method) === 'reference';
    return positions(isReference ? [ROOT, CONTEXT, INFO] : [ROOT, ARGS, CONTEXT, INFO], count);
  },

  sourceOf({ kind, data }): Source {
    switch (kind) {
      case ROOT: // Nest hands over the whole parent, also to `@Parent('name')`
        return { valueOf: (call) => fieldCallOf(call).root, use: 'key', label: '@Parent()' };
      case ARGS:
        return {
          valueOf: (call) => pickArgument(fieldCallOf(call).args, data),
          use: 'held',
          label: '@Args()',
        };
      case CONTEXT:
        return { valueOf: (call) => pick(fieldCallOf(call).context, data), use: 'open', label: '@Context()' };
      case INFO:
        return { valueOf: (call) => pick(fieldCallOf(call).info, data), use: 'open', label: '@Info()' };
      default:
        return NOTHING;
    }
  },

  /** All arguments, taken or not: the schema bounds them, and pipes and inner interceptors see them too. */
  baseOf: () => (call) => {
    const { args, info } = fieldCallOf(call);
    return [info?.parentType.name, info?.fieldName, args];
  },
};

function pickArgument(args: unknown, name: unknown): unknown {
  return args === undefined || args === null ? args : pick(args, name);
}

function isFieldInfo(info: unknown): info is FieldInfo {
  if (typeof info !== 'object' || info === null) return false;
  const { fieldName, parentType, operation } = info as Partial<FieldInfo>; // it is looked at right here
  return (
    typeof fieldName === 'string' &&
    typeof parentType?.name === 'string' &&
    typeof operation?.operation === 'string'
  );
}
