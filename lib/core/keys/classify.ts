/** What the encoder must know about the class of an instance. */
export interface ClassInfo {
  /** The class's name as an error should say it. */
  readonly name: string;
  /** A plain object of another realm (a vm context, a test runner's) or over a bare prototype. */
  readonly plain: boolean;
  /** The first built-in class on the chain (Map, Promise, Error...), whose state no property shows. */
  readonly builtIn: string | undefined;
  /** The first class on the chain, below any built-in one, that reads a `#private` member. */
  readonly privateIn: string | undefined;
  /** What its methods make of it, if that lives on while a key stays the same: "a stream". */
  readonly living: string | undefined;
}

// A memo of what a class's source says; a prototype that dies takes its line along.
const known = new WeakMap<object, ClassInfo>();

/** Looks at the prototype chain of an instance; once per prototype. */
export function classify(prototype: object): ClassInfo {
  const earlier = known.get(prototype);
  if (earlier !== undefined) return earlier;
  const info = inspect(prototype);
  known.set(prototype, info);
  return info;
}

// A member that is declared but never read makes no difference to a method, so reading it (`.#name`) is what counts.
const READS_PRIVATE = /\.\s*#[\p{ID_Start}$_\\]/u;
const BUILT_IN = /\{\s*\[native code\]\s*\}$/;

interface Level {
  readonly name: string;
  readonly source: string;
}

function inspect(prototype: object): ClassInfo {
  const classes = classesOf(prototype);
  const firstBuiltIn = classes.findIndex((level) => BUILT_IN.test(level.source));
  const own = firstBuiltIn === -1 ? classes : classes.slice(0, firstBuiltIn);
  return {
    name: classes[0]?.name ?? 'Object',
    plain: classes.length === 0 && Object.getPrototypeOf(prototype) === null,
    builtIn: classes[firstBuiltIn]?.name,
    privateIn: own.find((level) => READS_PRIVATE.test(level.source))?.name,
    living: livingKind(prototype),
  };
}

/** The constructors on the chain, without the root's `Object`, of whatever realm that is. */
function classesOf(prototype: object): readonly Level[] {
  const classes: Level[] = [];
  for (const level of chain(prototype)) {
    const constructor = ownValue(level, 'constructor');
    if (typeof constructor !== 'function') continue;
    const source = Function.prototype.toString.call(constructor);
    const isRoot = Object.getPrototypeOf(level) === null && BUILT_IN.test(source);
    if (!isRoot) classes.push({ name: constructor.name || 'an unnamed class', source });
  }
  return classes;
}

/** By what they can do and not by class: requests, sockets and query builders come from many libraries. */
function livingKind(prototype: object): string | undefined {
  const levels = chain(prototype);
  const can = (method: string): boolean =>
    levels.some((level) => typeof ownValue(level, method) === 'function');
  if (can('then')) return 'a promise';
  if (can('pipe') || can('getReader')) return 'a stream';
  return can('on') && can('emit') ? 'an event emitter' : undefined;
}

function chain(prototype: object): readonly object[] {
  const levels: object[] = [];
  for (let level: object | null = prototype; level !== null;) {
    levels.push(level);
    level = Object.getPrototypeOf(level) as object | null;
  }
  return levels;
}

/** Without running a getter, which would see the prototype as its `this`. */
function ownValue(level: object, property: string): unknown {
  return Object.getOwnPropertyDescriptor(level, property)?.value;
}
