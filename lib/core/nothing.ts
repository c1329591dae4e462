/**
 * Does nothing.
 *
 * A function that is kept in a property comes from here, or is a `const` before it is put there. V8 takes a function literal
 * that is assigned to a property for a method, and makes it old at once: what it captures, a request with all of its objects,
 * then stays until the next full collection.
 */
export const nothing = (): undefined => undefined;
