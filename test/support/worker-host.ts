import { describeError, type FromWorker, type ToWorker } from './worker-protocol.js';

/** The part of the instant before a common start that is spent spinning: a timer alone is late by a millisecond. */
const SPIN_NS = 2_000_000n;

type Handlers = Record<string, (...args: unknown[]) => unknown>;

const modulePath = process.argv[2];
if (!modulePath || !process.send)
  throw new Error('worker-host is started by processes.ts, with a module path');
// A worker module's exports are its handlers, by the contract of startWorkers().
const handlers = require(modulePath) as Handlers;

const prepared = new Map<number, { readonly name: string; readonly args: readonly unknown[] }>();
let stopping = false;

const send = (message: FromWorker) => process.send?.(message);

async function answer(id: number, name: string, args: readonly unknown[]): Promise<void> {
  try {
    const handler = handlers[name];
    if (!handler) throw new Error(`${modulePath} exports no function "${name}"`);
    send({ type: 'result', id, value: await handler(...args) });
  } catch (error) {
    send({ type: 'error', id, error: describeError(error) });
  }
}

function startAt(at: bigint, run: () => void): void {
  const sleep = Number(at - SPIN_NS - process.hrtime.bigint()) / 1e6;
  setTimeout(
    () => {
      while (process.hrtime.bigint() < at);
      run();
    },
    Math.max(0, sleep),
  );
}

/** Lets go of the parent and ends by itself: a worker that something still keeps alive is a leak, and is reported. */
async function stop(): Promise<void> {
  stopping = true;
  await handlers['shutdown']?.();
  process.disconnect();
}

process.on('message', (message: ToWorker) => {
  switch (message.type) {
    case 'call':
      void answer(message.id, message.name, message.args);
      return;
    case 'prepare':
      prepared.set(message.id, message);
      send({ type: 'prepared', id: message.id });
      return;
    case 'go': {
      const call = prepared.get(message.id);
      prepared.delete(message.id);
      if (call) startAt(message.at, () => void answer(message.id, call.name, call.args));
      return;
    }
    case 'stop':
      void stop();
  }
});

// The parent is gone: nobody is left to tell this process to stop.
process.on('disconnect', () => {
  if (!stopping) process.exit(1);
});

send({ type: 'started' });
