/** The slot function that ioredis uses; it brings no types of its own. */
declare module 'cluster-key-slot' {
  function slot(key: string | Buffer): number;
  export = slot;
}
