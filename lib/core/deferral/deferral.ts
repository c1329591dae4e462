import { AsyncScope } from '../async-scope.js';
import { nameOf } from '../coherence/index.js';
import { isSoft, type Change } from './change.js';

/** Changes that wait for the end of a run, in their order. */
class Deferral {
  isOpen = true;
  private readonly changes: Change[] = [];

  constructor(readonly outer: Deferral | undefined) {}

  add(changes: readonly Change[]): void {
    this.changes.push(...changes);
  }

  close(): readonly Change[] {
    this.isOpen = false;
    return this.changes.splice(0);
  }
}

/** Runs in which changes wait, by async context. */
export class Deferrals {
  private readonly scope = new AsyncScope<Deferral | undefined>();

  /** Leaves the changes to the run around this call. False: there is none, or it is over. */
  take(changes: readonly Change[]): boolean {
    const around = this.around();
    around?.add(changes);
    return around !== undefined;
  }

  /**
   * Runs `run`. The changes made inside are handed on when it resolves: to the run around it, or else to `perform`. When it
   * rejects they are dropped.
   */
  async run<R>(
    run: () => Promise<R>,
    perform: (changes: readonly Change[], result: R) => Promise<void>,
  ): Promise<R> {
    const deferral = new Deferral(this.around());
    let result: R;
    try {
      result = await this.scope.during(deferral, async () => run());
    } catch (error) {
      deferral.close();
      throw error;
    }
    const changes = lastOnes(deferral.close());
    if (deferral.outer?.isOpen === true) deferral.outer.add(changes);
    else if (changes.length > 0) await perform(changes, result);
    return result;
  }

  /** Whether changes made now wait for the end of a run. */
  get isDeferring(): boolean {
    return this.around() !== undefined;
  }

  /** Runs what is no part of the run around it: a load is shared, and its value stored, whatever becomes of that run. */
  outside<R>(run: () => R): R {
    // Entering costs every promise of the process: not for those who never defer.
    return this.scope.current() === undefined ? run() : this.scope.during(undefined, run);
  }

  /** Gives the context back. */
  close(): void {
    this.scope.close();
  }

  private around(): Deferral | undefined {
    let around = this.scope.current();
    while (around && !around.isOpen) around = around.outer;
    return around;
  }
}

/**
 * Without the changes that a later one makes pointless: another one of the same subject, or one of everything. A hold-off
 * longer than what comes after it stays.
 */
function lastOnes(changes: readonly Change[]): readonly Change[] {
  const hard = new Map<string, number>();
  const soft = new Set<string>();
  const kept: Change[] = [];
  let isCleared = false;
  for (const change of [...changes].reverse()) {
    const name = nameOf(change.subject);
    const heldOff = hard.get(name) ?? (isCleared ? 0 : undefined);
    if (heldOff !== undefined && change.holdOffMs <= heldOff) continue;
    if (isSoft(change) && soft.has(name)) continue;
    if (isSoft(change)) soft.add(name);
    else hard.set(name, Math.max(change.holdOffMs, heldOff ?? 0));
    kept.push(change);
    isCleared ||= change.subject.kind === 'scope' && change.subject.name === '';
  }
  return kept.reverse();
}

/** The changes in groups, each of which may be made at once: what concerns one thing, or everything, keeps its order. */
export function inOrder(changes: readonly Change[]): readonly (readonly Change[])[] {
  const groups: Change[][] = [];
  let seen = new Set<string>();
  for (const change of changes) {
    const name = nameOf(change.subject);
    const last = groups.at(-1);
    if (last === undefined || change.subject.kind === 'scope' || seen.has(name) || seen.has('scope')) {
      groups.push([change]);
      seen = new Set([change.subject.kind === 'scope' ? 'scope' : name]);
      continue;
    }
    seen.add(name);
    last.push(change);
  }
  return groups;
}
