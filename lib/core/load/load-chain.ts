import { AsyncScope } from '../async-scope.js';
import type { Awaiting, Queued, Slot } from '../guard/index.js';
import type { LoadContext } from './load-context.js';

/** What a load can wait for: it becomes a load of its own once it has begun. */
export interface Awaited {
  /** Its place in the guard's queue, now or before. */
  readonly ticket: (Queued & { readonly waiting: boolean }) | undefined;
  readonly link: ChainLink | undefined;
}

/** One running load, as seen by the cached calls made inside it. */
export interface ChainLink {
  /** Whether it loads this key. */
  loads(keyId: string): boolean;
  readonly context: LoadContext;
  readonly slot: Slot | undefined;
  readonly parent: ChainLink | undefined;
  /** The flights that calls made inside this load wait for now, and how many calls each. */
  readonly waitsFor: Map<Awaited, number>;
  finished: boolean;
}

/**
 * The loads around a call, by async context. A nested call borrows its chain's slot; one that would wait for a load of its
 * own chain, directly or over others, would wait for ever and is refused.
 */
export class LoadChain {
  private readonly scope = new AsyncScope<ChainLink>();

  /** The load this call is made in. The context of a load that has ended counts as none. */
  current(): ChainLink | undefined {
    const link = this.scope.current();
    return link === undefined || link.finished ? undefined : link;
  }

  /** Gives the context back. */
  close(): void {
    this.scope.close();
  }

  /** Runs `fn` as the load `link`. */
  run<R>(link: ChainLink, fn: () => R): R {
    return this.scope.during(link, fn);
  }
}

/** Whether `from` runs inside a load of `keyId`. */
export function isInside(from: ChainLink | undefined, keyId: string): boolean {
  for (let link = from; link !== undefined; link = link.parent) {
    if (link.loads(keyId) && !link.finished) return true;
  }
  return false;
}

/** Whether `target` waits, over any number of flights, for `from` or a load around it. */
export function wouldDeadlock(from: ChainLink, target: Awaited): boolean {
  const chain = new Set<ChainLink>();
  for (let link: ChainLink | undefined = from; link !== undefined; link = link.parent) chain.add(link);
  const seen = new Set<Awaited>();
  const open = [target];
  for (let awaited = open.pop(); awaited !== undefined; awaited = open.pop()) {
    if (seen.has(awaited) || awaited.link === undefined) continue;
    if (chain.has(awaited.link)) return true;
    seen.add(awaited);
    open.push(...awaited.link.waitsFor.keys());
  }
  return false;
}

/** The same, as the load guard sees it. */
export function awaitedBy({ waitsFor, finished }: ChainLink): readonly Awaiting[] {
  if (finished) return [];
  return [...waitsFor.keys()].map(({ ticket, link }) => {
    if (ticket?.waiting === true) return ticket;
    return link?.finished === false ? link.slot : undefined;
  });
}

/** One more call inside `link` waits for `flight`, or one less. */
export function countWait(link: ChainLink, flight: Awaited, change: 1 | -1): void {
  const count = (link.waitsFor.get(flight) ?? 0) + change;
  if (count > 0) link.waitsFor.set(flight, count);
  else link.waitsFor.delete(flight);
}
