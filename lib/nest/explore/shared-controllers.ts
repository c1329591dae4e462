import { describeMethod } from '../cached/declaration.js';
import type { RoutePlace } from '../route/route-place.js';

/** Where a class is a controller, and which of its handlers are keyed by the class alone. */
interface Registered {
  readonly modules: string[];
  readonly handlers: Set<string>;
}

/**
 * Controllers of several modules. An entry is named after class and handler, and each module may give the class other
 * providers, so they would answer for each other.
 */
export class SharedControllers {
  private readonly known = new Map<object, Registered>();

  /** Notes a class that a module has among its controllers. Once for each. */
  note(host: object, module: string): void {
    const known = this.known.get(host);
    if (known) known.modules.push(module);
    else this.known.set(host, { modules: [module], handlers: new Set() });
  }

  /** Notes a handler that the interceptor serves, and whose key does not say of which module it is. */
  serves({ host, method }: RoutePlace): void {
    this.known.get(host)?.handlers.add(describeMethod(host, method));
  }

  /** What is wrong with them. */
  problems(): readonly string[] {
    return [...this.known].flatMap(([host, { modules, handlers }]) => {
      if (modules.length < 2 || handlers.size === 0) return [];
      const name = (host as { readonly name: string }).name; // a class
      return [
        `${name} is a controller of ${listed(modules)}, whose responses would be one entry: ${[...handlers].join(', ')}. Register it in one module, give each module a subclass of its own, or give http.key what tells them apart.`,
      ];
    });
  }
}

/** `ShopModule and AdminModule`; `ShopModule, twice`, as a dynamic module can be. */
function listed(modules: readonly string[]): string {
  const names = [...new Set(modules)];
  return names.length === modules.length ? names.join(' and ') : `${names.join(' and ')}, more than once`;
}
