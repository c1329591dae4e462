/** `util.inspect.custom`, by its registered name: no declaration of this package needs Node's types for it. */
export const INSPECT: unique symbol = Symbol.for('nodejs.util.inspect.custom');
