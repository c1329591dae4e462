/** The part of ioredis's connector that makes its connections to Sentinels. Not in its types. */
interface Connecting {
  connectToSentinel?(endpoint: unknown, options?: object): unknown;
}

/**
 * ioredis's way to a master by its Sentinels, but for one thing: its own connections to those that are away end at once, where
 * ioredis would keep the process alive for two more seconds and offers no option for it.
 */
export function promptConnector<C extends new (...args: never[]) => object>(
  connector: C,
  disconnectTimeout: number,
): C {
  return new Proxy(connector, {
    construct(target, args, newTarget) {
      const made = Reflect.construct(target, args, newTarget) as Connecting; // a private method
      const connect = made.connectToSentinel?.bind(made);
      if (connect !== undefined)
        made.connectToSentinel = (endpoint, options) => connect(endpoint, { disconnectTimeout, ...options });
      return made;
    },
  });
}
