import type { ShadowResponse } from './shadow-response.js';

/** The shadow that stands in for the response in this async context, if any. */
export type Active = () => ShadowResponse | undefined;
/** Does in the shadow what a method would do to the real response. */
export type Stand = (shadow: ShadowResponse, args: readonly unknown[], target: object) => unknown;

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** Methods go to the shadow where one is active. A method that the target lacks stays missing. */
export function overrideMethods(
  target: object,
  stands: Readonly<Record<string, Stand>>,
  active: Active,
): void {
  for (const [name, stand] of Object.entries(stands)) {
    replace(target, name, (original) => {
      return function (...args) {
        const shadow = active();
        return shadow ? stand(shadow, args, target) : original.apply(this, args);
      };
    });
  }
}

/** Methods that send: they make the response real. Where it is over, they are swallowed. */
export function overrideSenders(
  target: object,
  stands: Readonly<Record<string, Stand>>,
  active: Active,
): void {
  for (const [name, stand] of Object.entries(stands)) {
    replace(target, name, (original) => {
      return function (...args) {
        const shadow = active();
        return !shadow || shadow.commit() ? original.apply(this, args) : stand(shadow, args, target);
      };
    });
  }
}

/** Methods that tell the real response something in passing. Where it is over, that is left out. */
export function overridePassing(
  target: object,
  names: readonly string[],
  active: Active,
  note: (shadow: ShadowResponse) => void,
): void {
  for (const name of names) {
    replace(target, name, (original) => {
      return function (...args) {
        const shadow = active();
        if (shadow) note(shadow);
        if (!shadow?.isRealOver) return original.apply(this, args);
        callBack(args);
        return target;
      };
    });
  }
}

/** Methods that run as they are, within `around`. */
export function overrideAround(
  target: object,
  names: readonly string[],
  around: (run: () => unknown) => unknown,
): void {
  for (const name of names) {
    replace(target, name, (original) => {
      return function (...args) {
        return around(() => original.apply(this, args));
      };
    });
  }
}

/** The callback among the arguments: it has gone out, as far as the handler is concerned. */
export function callBack(args: readonly unknown[]): void {
  const last = args.findLast((arg) => typeof arg === 'function');
  if (typeof last === 'function') process.nextTick(() => void Reflect.apply(last, undefined, []));
}

export interface PropertyStand {
  /** @param real what it is without the shadow */
  get(shadow: ShadowResponse, real: () => unknown): unknown;
  /** Absent: what is written goes to the real response. */
  set?(shadow: ShadowResponse, value: unknown): void;
}

/** Properties show the shadow's state where one is active. */
export function overrideProperties(
  target: object,
  stands: Readonly<Record<string, PropertyStand>>,
  active: Active,
): void {
  for (const [name, stand] of Object.entries(stands)) {
    const real = realOf(target, name);
    if (!real) continue;
    Object.defineProperty(target, name, {
      configurable: true,
      enumerable: real.enumerable,
      get: () => {
        const shadow = active();
        return shadow ? stand.get(shadow, real.get) : real.get();
      },
      set: (value: unknown) => {
        const shadow = stand.set && active();
        if (shadow) stand.set?.(shadow, value);
        else real.set(value);
      },
    });
  }
}

function replace(target: object, name: string, make: (original: Method) => Method): void {
  const original: unknown = Reflect.get(target, name);
  if (typeof original !== 'function') return;
  // Any function can be called with anything.
  const value = make(original as Method);
  Object.defineProperty(target, name, { configurable: true, enumerable: false, writable: true, value });
}

/** A property wherever it is kept; a plain value is kept here from now on. */
function realOf(target: object, name: string) {
  const descriptor = descriptorOf(target, name);
  if (!descriptor) return undefined;
  const { enumerable } = descriptor;
  if (descriptor.get || descriptor.set) {
    return {
      enumerable,
      get: (): unknown => descriptor.get?.call(target) as unknown, // `any` by its declaration
      set: (value: unknown) => descriptor.set?.call(target, value),
    };
  }
  let kept: unknown = descriptor.value;
  return { enumerable, get: () => kept, set: (value: unknown) => void (kept = value) };
}

function descriptorOf(target: object, name: string): PropertyDescriptor | undefined {
  for (let at: unknown = target; typeof at === 'object' && at !== null; at = Object.getPrototypeOf(at)) {
    const descriptor = Object.getOwnPropertyDescriptor(at, name);
    if (descriptor) return descriptor;
  }
  return undefined;
}
