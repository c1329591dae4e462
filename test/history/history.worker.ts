/** What one process of a history does when the coordinator asks for it. */
import { machineNow } from './clock.js';
import { seedOf } from './random.js';
import { Client } from './stream.js';
import type { CallOrder, ChangeOrder, SubjectSetup } from './orders.js';
import { Subject, type Ended } from './subject.js';
import type { ErrorNote } from './records.js';

interface State {
  readonly subject: Subject;
  readonly setup: SubjectSetup;
  clients: Promise<unknown>;
  going: boolean;
}

let state: State | undefined;

function here(): State {
  if (!state) throw new Error('open() comes first');
  return state;
}

export async function open(setup: SubjectSetup): Promise<void> {
  state = { subject: await Subject.open(setup), setup, clients: Promise.resolve(), going: true };
  watchLag(state);
}

/** Starts random clients. They go on by themselves. */
export function start(clients: number, seed: number): void {
  const now = here();
  const { catalogue } = now.setup;
  const all = Array.from(
    { length: clients },
    (_, index) => new Client(now.subject, catalogue, seedOf(seed, index)),
  );
  now.clients = Promise.all(all.map((client) => client.run(() => now.going)));
}

/** Resolves when no call is under way any more, to how many ms that took. */
export async function quiesce(): Promise<number> {
  const now = here();
  const began = machineNow();
  now.going = false;
  await now.clients;
  await now.subject.idle();
  return machineNow() - began;
}

export function call(order: CallOrder): Promise<Ended> {
  return here().subject.call(order);
}

export function change(order: ChangeOrder): Promise<ErrorNote | undefined> {
  return here().subject.change(order);
}

export function held(key: string): number {
  return here().subject.loads.held(key);
}

export function letGo(key: string, end: 'go' | 'fail'): void {
  here().subject.loads.letGo(key, end);
}

/** Calls of this process that found nothing to be served at once, and joined or lead a flight. */
export function misses(): number {
  return here().subject.cache.stats().misses;
}

/** Loads that wait for a slot. */
export function queued(): number {
  return here().subject.cache.stats().active.queued;
}

export function idOf(key: string): string {
  return here().subject.idOf(key);
}

export async function shutdown(): Promise<void> {
  await state?.subject.close();
}

/** A process that gets no processor can't keep any deadline: the checker must know. */
function watchLag({ subject }: State): void {
  const EVERY = 20;
  let last = machineNow();
  setInterval(() => {
    const now = machineNow();
    const ms = now - last - EVERY;
    last = now;
    if (ms > 15) subject.recorder.note({ kind: 'event', event: 'lag', key: '', ms });
  }, EVERY).unref();
}
