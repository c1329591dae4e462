type Properties = Readonly<Record<string, unknown>>;

/**
 * A native error with exactly these own properties. Its `stack` is one line, name and message: the frames it was thrown
 * from are not stored, and those of the decoder would mislead.
 */
export function restoreError(name: string, hidden: Properties, visible: Properties): Error {
  const error = blankError(name);
  for (const own of Object.getOwnPropertyNames(error)) {
    if (own !== 'stack') delete (error as unknown as Record<string, unknown>)[own];
  }
  defineAll(error, hidden, false);
  defineAll(error, visible, true);
  if (!Object.hasOwn(visible, 'stack')) defineAll(error, { stack: headline(error) }, false);
  return error;
}

function blankError(name: string): Error {
  switch (name) {
    case 'TypeError':
      return new TypeError();
    case 'RangeError':
      return new RangeError();
    case 'SyntaxError':
      return new SyntaxError();
    case 'ReferenceError':
      return new ReferenceError();
    case 'EvalError':
      return new EvalError();
    case 'URIError':
      return new URIError();
    case 'AggregateError':
      return new AggregateError([]);
    default:
      return new Error();
  }
}

function headline(error: Error): string {
  // A stored error may have been given anything as its name or message.
  const [name, message]: readonly unknown[] = [error.name, error.message];
  const title = typeof name === 'string' ? name : 'Error';
  return typeof message === 'string' && message !== '' ? `${title}: ${message}` : title;
}

function defineAll(target: object, properties: Properties, enumerable: boolean): void {
  for (const [name, value] of Object.entries(properties)) {
    Object.defineProperty(target, name, { value, enumerable, configurable: true, writable: true });
  }
}
