import { inOrder, isSoft, labelOf, type Change } from '../deferral/index.js';
import { InvalidationError } from '../errors.js';
import { detach, detachAll, detachTagged, tell, type Engine, type Refresher } from '../flight/index.js';
import { StoreFailure } from '../gate/index.js';
import { NotAnnounced } from '../not-announced.js';
import { show } from '../show.js';
import { Unsettled } from './unsettled.js';

/** Made at once; the next so many when these are over: a deadline is for a few commands, not for a hundred thousand. */
const TOGETHER = 500;

interface Failure {
  readonly change: Change;
  readonly cause: unknown;
}

/** Makes changes: now, or when the run around the call ends. Keeps those that the store did not acknowledge. */
export class Performer {
  readonly unsettled: Unsettled;
  /** Orders the changes that were asked for. */
  private count = 0;

  constructor(
    private readonly engine: Engine,
    private readonly refresher: Refresher,
  ) {
    this.unsettled = new Unsettled(engine.distrust, engine.runtime, {
      onSettled: (change) => this.tell(change, 'retried'),
      onForgotten: (count) => this.lament(count),
    });
  }

  async perform(changes: readonly Change[]): Promise<void> {
    if (changes.length > 0 && !this.engine.deferrals.take(changes)) await this.make(changes);
  }

  /** @throws InvalidationError naming all that was not acknowledged */
  async make(changes: readonly Change[]): Promise<void> {
    const failures: Failure[] = [];
    for (const group of inOrder(changes)) {
      for (let at = 0; at < group.length; at += TOGETHER)
        failures.push(...(await this.together(group.slice(at, at + TOGETHER))));
    }
    if (failures.length > 0) throw failureOf(failures);
  }

  /**
   * What runs here for their subjects is detached before, so that nobody joins what a change revokes, and again after: a flight
   * may have begun before the store knew.
   */
  private async together(changes: readonly Change[]): Promise<readonly Failure[]> {
    const since = this.engine.runtime.clock.now();
    const first = this.count + 1;
    this.count += changes.length;
    for (const change of changes) this.detach(change);
    const results = await Promise.allSettled(changes.map(async (change) => change.apply()));
    return changes.flatMap((change, index) => {
      const result = results[index];
      this.detach(change);
      if (result?.status !== 'rejected') {
        this.unsettled.settle(change, first + index);
        this.tell(change, 'done');
        return [];
      }
      // Made, and never to be announced: trying again would only invalidate what was stored since.
      if (!isMade(result.reason)) this.unsettled.add(change, { since, order: first + index });
      this.tell(change, 'failed');
      return [{ change, cause: result.reason as unknown }];
    });
  }

  private detach({ subject, about }: Change): void {
    if (subject.kind === 'scope') return detachAll(this.engine);
    if (subject.kind === 'tag') return detachTagged(this.engine, subject.id);
    detach(this.engine, about);
    this.refresher.forget(about);
  }

  private tell(change: Change, result: 'done' | 'failed' | 'retried'): void {
    const { engine } = this;
    if (result !== 'failed') engine.counters.invalidations += 1;
    if (change.what === 'set' && result === 'done') engine.publisher.tell(change.about, 'stored');
    const { kind } = change.subject;
    const scope = kind === 'scope' ? (change.about.name === '' ? 'all' : 'name') : kind;
    tell(engine, change.about, 'invalidate', { scope, soft: isSoft(change), result });
  }

  private lament(count: number): void {
    this.engine.planning.advice.sometimes(
      'unsettled',
      () =>
        `${count} invalidations that Redis never acknowledged were given up: other processes may serve old values until those expire.`,
    );
  }
}

function isMade(reason: unknown): boolean {
  return reason instanceof StoreFailure && reason.cause instanceof NotAnnounced;
}

function failureOf(failures: readonly Failure[]): InvalidationError {
  const labels = failures.map(({ change }) => labelOf(change));
  const [first] = failures;
  const why = first?.cause instanceof Error ? first.cause.message : show(first?.cause);
  const more = labels.length > 5 ? ` and ${labels.length - 5} more` : '';
  return new InvalidationError(
    `${first?.change.what} was not acknowledged for ${labels.slice(0, 5).join(', ')}${more}: ${why.replace(/\.$/, '')}. Other processes may serve old values${isMade(first?.cause) ? '' : ' until a retry in the background succeeds'}.`,
    labels,
    { cause: first?.cause },
  );
}
