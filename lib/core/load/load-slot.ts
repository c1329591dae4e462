import type { Home, Slot } from '../guard/index.js';
import type { ChainLink } from './load-chain.js';
import type { RunningLoadContext } from './load-context.js';

/** A load's place in front of its origin: a ticket of its own, or a share in the one of its batch. */
export interface Place {
  readonly home: Home;
  /** Rejects when there is no slot in time. */
  readonly slot: Promise<LoadSlot>;
  /** It queues. */
  readonly waiting: boolean;
  /** A foreground caller waits for this background load now: it moves to the foreground's queue. */
  promote(): void;
  /** A load that has `parent` waits for this one, and may lend its slot. */
  borrowFrom(parent: Slot): void;
  /** Gives the place up. */
  reject(error: unknown): void;
}

/** The right to run one load: a slot of its own, or a share in the one of its batch. */
export interface LoadSlot extends Pick<Slot, 'refusal' | 'begin' | 'report' | 'release'> {
  /** The slot itself, which nested loads borrow. */
  readonly whole: Slot;
  /** The load for many keys that it is part of. Undefined: it runs by itself. */
  readonly shared?: SharedLoad;
}

/** One load for many keys, as the load of one of them sees it. */
export interface SharedLoad {
  /** Takes part in it. What all of them run as, for the calls made inside. */
  join(context: RunningLoadContext, parent: ChainLink | undefined): ChainLink;
  /** What it gives for this key, or a promise of it. */
  load(): unknown;
  /** The load of this key is over, however it ended. */
  leave(): void;
}

/** One key of a call for many. Its loads are part of those of the others' that begin at the same time. */
export interface BatchMember {
  /** Its call begins, and may come to lead a load: when there is room, or at once. */
  arrive(): Promise<void> | undefined;
  /** It is known whether its call leads a load, whose place it has by then. Idempotent. */
  settle(): void;
  /** Asks for a place in front of the origin, as the load guard does. */
  enter(
    policy: { readonly where: string; readonly pool: string },
    options: { readonly background: boolean; readonly parent?: Slot | undefined },
  ): Place;
}
