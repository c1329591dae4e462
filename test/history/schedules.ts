import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.js';
import type { HistoryFleet } from './fleet.js';
import type { LoadPlan } from './loads.js';
import type { CallOrder } from './orders.js';

export const MAX_LAG = 150;
/** How long a condition is waited for that only some builds ever meet, ms. */
const PATIENCE = 300;
/** A lost connection is there again so much later at the latest, ms. */
const COMES_BACK = 1_500;

const QUICK: LoadPlan = { before: 0, after: 0 };
const HELD: LoadPlan = { ...QUICK, held: true };
const FAILS: LoadPlan = { ...QUICK, fails: true };

const get = (key: string, plan: LoadPlan = QUICK): CallOrder => ({ key, call: 'load', plan });

/** A schedule that opens one narrow window on purpose, on a key of its own. */
type Schedule = (fleet: HistoryFleet) => Promise<void>;

/** Resolves when a call that has just been begun in process 0 has joined a flight, or has sent its own read. */
async function underWay(fleet: HistoryFleet, begin: () => unknown): Promise<void> {
  const look = async (): Promise<{ misses: number; reads: number }> => ({
    misses: await fleet.at(0).call('misses'),
    reads: (await fleet.redis.commandCounts())['get'] ?? 0,
  });
  const before = await look();
  begin();
  const went = async (): Promise<boolean> => {
    const now = await look();
    return now.misses > before.misses || now.reads > before.reads;
  };
  // A build that shares what it should not share shows nothing.
  await until(went, { timeout: PATIENCE }).catch(() => undefined);
}

/** An invalidation of the key while a load that has read the old row runs elsewhere. */
const revoked: Schedule = async (fleet) => {
  const old = fleet.call(0, get('revoked', HELD));
  await fleet.holding(0, 'revoked');
  await fleet.change(1, { change: 'invalidate', keys: ['revoked'] });
  await fleet.letGo(0, 'revoked');
  await old;
  await fleet.call(1, get('revoked'));
  await fleet.call(0, get('revoked'));
};

/** The same, and a caller in the load's own process comes between the invalidation and the load's end. */
const joined: Schedule = async (fleet) => {
  const old = fleet.call(0, get('joined', HELD));
  await fleet.holding(0, 'joined');
  await fleet.change(1, { change: 'invalidate', keys: ['joined'] });
  let late: Promise<unknown> | undefined;
  await underWay(fleet, () => (late = fleet.call(0, get('joined'))));
  await fleet.letGo(0, 'joined');
  await Promise.all([old, late]);
};

/** The commit has been executed, its reply is under way; meanwhile the key is invalidated and a caller comes. */
const sealed: Schedule = async (fleet) => {
  const name = await fleet.dataKey('sealed');
  const raw = fleet.redis.client();
  const old = fleet.call(0, get('sealed', HELD));
  await fleet.holding(0, 'sealed');
  fleet.proxy(0).blackHole('replies');
  await fleet.letGo(0, 'sealed');
  await until(() => raw.exists(name), { what: 'the commit' });
  await fleet.change(1, { change: 'invalidate', keys: ['sealed'] });
  let late: Promise<unknown> | undefined;
  await underWay(fleet, () => (late = fleet.call(0, get('sealed'))));
  fleet.proxy(0).resume();
  await Promise.all([old, late]);
};

/** A change by tag or of everything while a load that has read the old row runs; whoever comes maxLag later gets a new one. */
const byTag =
  (
    key: string,
    change: { change: 'invalidateTags' | 'clear'; tags?: readonly string[] },
    outlasts: boolean,
  ): Schedule =>
  async (fleet) => {
    const old = fleet.call(0, get(key, HELD));
    await fleet.holding(0, key);
    await fleet.change(1, change);
    if (outlasts) await delay(MAX_LAG + 20);
    let late: Promise<unknown> | undefined;
    if (outlasts) await underWay(fleet, () => (late = fleet.call(0, get(key))));
    await fleet.letGo(0, key);
    await Promise.all([old, late]);
    if (!outlasts) await delay(MAX_LAG + 20);
    await fleet.call(1, get(key));
    await fleet.call(0, get(key));
  };

/** A soft expiry of a tag while a load that has read the old row runs: what it stores is not fresh. */
const softly =
  (key: string, tag: string): Schedule =>
  async (fleet) => {
    // The tag is known to the store.
    await fleet.call(1, get(key));
    await fleet.change(1, { change: 'invalidate', keys: [key] });
    const old = fleet.call(0, get(key, HELD));
    await fleet.holding(0, key);
    await fleet.change(1, { change: 'expireTags', tags: [tag] });
    await fleet.letGo(0, key);
    await old;
    await delay(MAX_LAG + 60);
    await fleet.call(1, get(key));
    await fleet.call(0, get(key));
  };

/**
 * A load lends its slot to a call that it makes, and which may have an old value after a while: it does not go on with that
 * before the other load has ended.
 */
const lent: Schedule = async (fleet) => {
  await fleet.call(0, get('lent'));
  await delay(40); // it expires by the server's time
  const nested = get('lent', HELD);
  const outer = fleet.call(0, get('lender', { ...HELD, nested }));
  await fleet.holding(0, 'lent');
  await delay(150); // longer than its softTimeout
  await fleet.letGo(0, 'lent');
  await fleet.holding(0, 'lender');
  await fleet.letGo(0, 'lender');
  await outer;
};

/** Redis falls silent when a process has just been told that the value it waits for is there. */
const blind: Schedule = async (fleet) => {
  const raw = fleet.redis.client();
  const [data, lease] = [await fleet.dataKey('blind'), await fleet.leaseKey('blind')];
  const first = fleet.call(1, get('blind', HELD));
  await fleet.holding(1, 'blind');
  const waiting = fleet.call(0, get('blind', HELD));
  await until(async () => (await raw.get(lease))?.charAt(23) === 'w', { what: 'process 0 to wait' });
  fleet.proxy(0).blackHole('requests');
  await fleet.letGo(1, 'blind');
  await first;
  await until(() => raw.exists(data), { what: 'the commit' });
  await delay(50); // the push arrives
  const next = fleet.call(0, get('blind', HELD));
  await fleet.holding(0, 'blind');
  await fleet.holding(0, 'blind', 2, 2_000).catch(() => undefined);
  await fleet.letGo(0, 'blind');
  await waiting;
  // A load that began only now is let go as well.
  const over = next.then(() => true);
  await until(async () => {
    await fleet.letGo(0, 'blind');
    return Promise.race([over, delay(20, false)]);
  });
  fleet.proxy(0).resume();
};

/** Everything is cleared while a process has lost its connections; it goes on asking, and comes back. */
const clearedAway: Schedule = async (fleet) => {
  await fleet.call(1, get('clearedAway'));
  await fleet.call(0, get('clearedAway'));
  fleet.proxy(0).refuse();
  fleet.cut(0);
  await fleet.change(1, { change: 'clear' });
  await delay(2 * MAX_LAG);
  const ask = (): Promise<unknown> => fleet.call(0, get('clearedAway'));
  await ask();
  fleet.proxy(0).resume();
  // For longer than it takes to come back, and than a mistaken belief could last.
  const end = performance.now() + COMES_BACK;
  while (performance.now() < end) await ask();
};

/** A read has been executed, its reply is under way; meanwhile the key is invalidated and another reader comes. */
const shared: Schedule = async (fleet) => {
  await fleet.call(1, get('shared'));
  fleet.proxy(0).blackHole('replies');
  let first: Promise<unknown> | undefined;
  await underWay(fleet, () => (first = fleet.call(0, get('shared'))));
  await fleet.change(1, { change: 'invalidate', keys: ['shared'] });
  let second: Promise<unknown> | undefined;
  await underWay(fleet, () => (second = fleet.call(0, get('shared'))));
  fleet.proxy(0).resume();
  await Promise.all([first, second]);
};

/** A leader holds an expired entry as its last resort; the key is invalidated, and all loads fail from then on. */
const held: Schedule = async (fleet) => {
  await fleet.call(0, get('held'));
  await delay(40); // it expires by the server's time
  const leader = fleet.call(0, get('held', HELD));
  await fleet.holding(0, 'held');
  await fleet.change(1, { change: 'invalidate', keys: ['held'] });
  let late: Promise<unknown> | undefined;
  await underWay(fleet, () => (late = fleet.call(0, get('held', FAILS))));
  await fleet.letGo(0, 'held', 'fail');
  await Promise.all([leader, late]);
};

/** The question for the lease is under way for longer than its budget: the load begins without, and the grant comes later. */
const late: Schedule = async (fleet) => {
  const busy = fleet.call(0, get('busy', HELD));
  await fleet.holding(0, 'busy');
  let old: Promise<unknown> | undefined;
  // It has read the store, and waits for the only slot.
  await underWay(fleet, () => (old = fleet.call(0, get('late', HELD))));
  await until(async () => (await fleet.at(0).call('queued')) > 0, { what: 'a load in the queue' });
  fleet.proxy(0).blackHole('requests');
  await fleet.letGo(0, 'busy');
  await fleet.holding(0, 'late');
  await fleet.change(1, { change: 'invalidate', keys: ['late'] });
  fleet.proxy(0).resume();
  // On the same connection: what was asked for before has been answered.
  await fleet.call(0, { key: 'late', call: 'read', plan: QUICK });
  await fleet.letGo(0, 'late');
  await Promise.all([busy, old]);
  await fleet.call(1, get('late'));
  await fleet.call(0, get('late'));
};

export const SCHEDULES = {
  revoked,
  joined,
  sealed,
  tagged: byTag('tagged', { change: 'invalidateTags', tags: ['shelf'] }, false),
  taggedLong: byTag('taggedLong', { change: 'invalidateTags', tags: ['shop'] }, true),
  valueTagged: byTag('valueTagged', { change: 'invalidateTags', tags: ['shade'] }, false),
  cleared: byTag('cleared', { change: 'clear' }, true),
  softTag: softly('softTag', 'soft'),
  softLateTag: softly('softLateTag', 'softLate'),
  lent,
  blind,
  clearedAway,
  shared,
  held,
  late,
} as const satisfies Readonly<Record<string, Schedule>>;

export type ScheduleName = keyof typeof SCHEDULES;
