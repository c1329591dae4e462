import { isObservable, Observable, Subscriber, type Observer, type Subscription } from 'rxjs';
import { isThenable } from '../is-thenable.js';

type Complain = (error: unknown) => void;
type Next<T> = (value: T) => unknown;

/**
 * An Observable whose subscribers can do no harm: what one throws, or rejects with later, is complained of. RxJS itself
 * would throw it again where nobody can catch it, and end the process. That holds behind `pipe` too.
 */
export class SafeObservable<T> extends Observable<T> {
  constructor(
    private readonly complain: Complain,
    source: (subscriber: Subscriber<T>) => () => void,
  ) {
    super(source);
    // An assignment and not an override: the nine overloads of RxJS stay the declared ones.
    this.pipe = ((...operators: readonly unknown[]) => this.pipeSafely(operators)) as typeof this.pipe;
  }

  override subscribe(
    observer?: Partial<Observer<T>> | Next<T> | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    // An operator's own: it hands errors on to the last subscriber, which is a safe one.
    if (observer instanceof Subscriber) return super.subscribe(observer);
    const given: Partial<Observer<T>> =
      typeof observer === 'object' && observer !== null
        ? observer
        : { ...(observer && { next: observer }), ...(error && { error }), ...(complete && { complete }) };
    return super.subscribe({
      next: (value) => this.attempt(() => given.next?.(value)),
      error: (failure: unknown) =>
        this.attempt(() => (given.error ? given.error(failure) : this.complain(failure))),
      complete: () => this.attempt(() => given.complete?.()),
    });
  }

  private pipeSafely(operators: readonly unknown[]): unknown {
    const pipe = Reflect.get(Observable.prototype, 'pipe') as (...all: unknown[]) => unknown; // for nine overloads
    const piped: unknown = Reflect.apply(pipe, this, operators);
    if (!isObservable(piped) || piped instanceof SafeObservable) return piped;
    return new SafeObservable(this.complain, (subscriber) => {
      const subscription = piped.subscribe(subscriber);
      return () => subscription.unsubscribe();
    });
  }

  private attempt(run: () => unknown): void {
    try {
      const result = run();
      if (isThenable(result)) result.then(undefined, this.complain);
    } catch (error) {
      this.complain(error);
    }
  }
}
