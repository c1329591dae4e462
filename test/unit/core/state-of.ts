import type { MemoryLab } from './memory-lab.js';

/** How a promise stands after everything that can run has run. */
export async function stateOf(lab: MemoryLab, promise: Promise<unknown>): Promise<unknown> {
  let state: unknown = 'pending';
  promise.then(
    (value) => (state = { value }),
    (error: unknown) => (state = { error: named(error) }),
  );
  await lab.fake.settle();
  return state;
}

function named(error: unknown): unknown {
  if (typeof error !== 'object' || error === null || !('message' in error) || !('name' in error))
    return error;
  return `${String(error.name)}: ${String(error.message)}`;
}
