import type { Duration } from '../duration.js';
import { ConfigurationError } from '../errors.js';
import type { LoadContext, RunningLoadContext } from '../load/index.js';

/** One id of a load of many. */
export interface Part {
  readonly id: unknown;
  /** The place of the id in the call. */
  readonly index: number;
  /** Its own load. */
  readonly context: RunningLoadContext;
}

/** The load of many keys as `currentLoad()` tells of it: what is said counts for each of them. */
export class BatchContext implements LoadContext {
  constructor(
    protected readonly where: string,
    /** Grows until the loader is called. */
    protected readonly parts: readonly Part[],
    readonly signal: AbortSignal,
  ) {}

  /** All the encoded keys; none holds a space. */
  get key(): string {
    return this.parts.map(({ context }) => context.key).join(' ');
  }

  ttl(duration: Duration): void {
    for (const { context } of this.parts) context.ttl(duration);
  }

  skip(): void {
    for (const { context } of this.parts) context.skip();
  }

  tags(...tags: string[]): void {
    for (const { context } of this.parts) context.tags(...tags);
  }

  asOf(time: Date | number): void {
    for (const { context } of this.parts) context.asOf(time);
  }

  sourceVersion(version: number | bigint): void {
    for (const { context } of this.parts) context.sourceVersion(version);
  }

  notModified(): never {
    throw new ConfigurationError(
      `${this.where}: notModified() concerns one id of a batch: map.set(id, ctx.of(id).notModified()).`,
    );
  }
}
