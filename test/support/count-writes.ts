import type { Writable } from 'node:stream';

/** How often a socket is handed to the system from now on. */
export function countWrites(socket: Writable): () => number {
  let writes = 0;
  const write = socket._write.bind(socket);
  const writev = socket._writev?.bind(socket);
  socket._write = (...args) => {
    writes += 1;
    write(...args);
  };
  socket._writev = (...args) => {
    writes += 1;
    writev?.(...args);
  };
  return () => writes;
}
