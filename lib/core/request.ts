import type { LoadContext } from './load/load-context.js';
import type { BatchMember } from './load/load-slot.js';
import type { EntryKey } from './keys/index.js';
import type { ResolvedCall, ResolvedPolicy } from './policy/index.js';

/** The user's function behind an entry. */
export type Loader = (context: LoadContext<never>) => unknown;

/** One call, with everything that is fixed from its beginning. */
export interface Request {
  readonly key: EntryKey;
  /** The cached method's name, or `''`. */
  readonly name: string;
  /** The build's version of the entry, as `inspect` shows it. */
  readonly version?: string | undefined;
  readonly policy: ResolvedPolicy;
  readonly call: ResolvedCall;
  /** The method's arguments, or the key's parts: for the policy's functions. */
  readonly args: readonly unknown[];
  readonly load: Loader;
  /** It is one of many keys asked for together, to be loaded with the others. */
  readonly batch?: BatchMember | undefined;
}
