import { EmptyError, Observable, type Subscriber, type Subscription } from 'rxjs';

/** What a handler answered with. `several`: more than one value, or none that is surely the last. */
export type Answered =
  { readonly kind: 'one'; readonly value: unknown } | { readonly kind: 'several'; readonly rest: Rest };

/** Of `several`, as a message says it. */
export const SEVERAL = 'the handler answered with an Observable of several values';

/**
 * Subscribes once. An Observable that has not completed by the end of the turn in which its first value came is taken for one
 * of several values: nothing tells that it ever will.
 * @throws what it fails with; EmptyError for one without a value, as NestJS does
 */
export function takeAnswer(source: Observable<unknown>): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const rest = new Rest();
    let begun = false;
    let handedOut = false;
    const handOut = (): void => {
      if (handedOut || rest.isOver) return;
      handedOut = true;
      resolve({ kind: 'several', rest });
    };
    rest.follow(
      source.subscribe({
        next(value) {
          rest.next(value);
          if (begun) return handOut();
          begun = true;
          setImmediate(handOut);
        },
        error(error: unknown) {
          rest.error(error);
          if (!handedOut) reject(error as Error); // whatever the handler threw
        },
        complete() {
          rest.complete();
          if (handedOut) return;
          if (begun) resolve({ kind: 'one', value: rest.first });
          else reject(new EmptyError());
        },
      }),
    );
  });
}

/** An Observable that began before its one subscriber came, and ends with it. */
export class Rest {
  isOver = false;
  private readonly waiting: ((to: Subscriber<unknown>) => void)[] = [];
  private subscriber: Subscriber<unknown> | undefined;
  private source: Subscription | undefined;
  private isDropped = false;
  first: unknown;

  follow(source: Subscription): void {
    this.source = source;
    if (this.isDropped) source.unsubscribe();
  }

  next(value: unknown): void {
    if (this.waiting.length === 0) this.first = value;
    this.pass((to) => to.next(value));
  }

  error(error: unknown): void {
    this.isOver = true;
    this.pass((to) => to.error(error));
  }

  complete(): void {
    this.isOver = true;
    this.pass((to) => to.complete());
  }

  /** All of it, from the first value on. For one subscriber. */
  values(): Observable<unknown> {
    return new Observable((subscriber) => {
      this.subscriber = subscriber;
      for (const told of this.waiting.splice(0)) told(subscriber);
      return () => this.drop();
    });
  }

  /** Nobody wants it. */
  drop(): void {
    this.isDropped = true;
    this.source?.unsubscribe();
  }

  private pass(told: (to: Subscriber<unknown>) => void): void {
    if (this.isDropped) return;
    if (this.subscriber) told(this.subscriber);
    else this.waiting.push(told);
  }
}
