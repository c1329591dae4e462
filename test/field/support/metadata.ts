import 'reflect-metadata';

/** A method as those see it who scan classes: a function, not to be called. */
export function methodOf(type: { readonly prototype: object }, name: string | symbol): object {
  return Reflect.get(type.prototype, name) as object;
}

/** All metadata of a function or class, or of one member of a class, by key. */
export function metadataOf(target: object, member?: string): Record<string, unknown> {
  // Both take the member or leave it out; only their types do not say so.
  const about = (member === undefined ? [target] : [target, member]) as [object, string];
  const keys = Reflect.getMetadataKeys(...about) as unknown[];
  return Object.fromEntries(keys.map((key) => [String(key), Reflect.getMetadata(key, ...about) as unknown]));
}
