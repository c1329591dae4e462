import 'reflect-metadata';
import type { CachedDeclaration } from './declaration.js';

type Method = CachedDeclaration['original'];

/**
 * A method that is called differently. A Proxy: name, length and own properties are the original's. The metadata, which is
 * kept by function, is copied.
 */
export function proxyOf(
  original: Method,
  call: (method: Method, host: unknown, args: unknown[]) => unknown,
): Method {
  const proxy = new Proxy(original, {
    apply: (method, host: unknown, args: unknown[]) => call(method, host, args),
  });
  for (const key of Reflect.getOwnMetadataKeys(original) as unknown[]) {
    Reflect.defineMetadata(key, Reflect.getOwnMetadata(key, original), proxy);
  }
  return proxy;
}
