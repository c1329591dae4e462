import type { Policy } from '../../core/policy/index.js';
import type { HttpOptions } from './http-options.interface.js';

/**
 * What `@CachedRoute` takes: the policy of the responses, and how requests become entries. The policy's functions get the
 * value the handler answers with, and the handler's arguments as the request brought them, before pipes.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- a handler of any kind; its type is not known to a class decorator
export interface CachedRouteOptions extends Policy<any, any[]> {
  /** The name that the entries, events and metrics carry. @default the controller's class, and the handler */
  readonly name?: string;
  /** Which build's entries these are: another version neither reads nor overwrites them. @default none */
  readonly version?: string | number;
  /** The named cache that keeps the entries. @default the default cache */
  readonly cache?: string;
  /** false: straight to the handler, nothing is read or stored. @default always true */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  readonly when?: (...args: any[]) => boolean;
  /** How requests become entries, and how responses are sent. */
  readonly http?: HttpOptions;
}
