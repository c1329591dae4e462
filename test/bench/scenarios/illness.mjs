import { ADAPTERS, hasTrait, withTraits } from '../adapters/index.mjs';
import { now, sleep } from '../clock.mjs';
import { Child } from '../fleet/child.mjs';
import { namespaceOf } from '../fleet/pool.mjs';
import { RedisServer } from '../fleet/redis.mjs';
import { peakOf, quantile } from '../stats.mjs';

/** What the second set-up of a peer is called: its client does not wait for Redis for long. */
const IMPATIENT = ', impatient client';
const TIMEOUT_MS = 100;
const MODES = ['Redis frozen', 'Redis killed'];

/** A configuration with a server and a process of its own. */
class Ward {
  static async open(name, timeoutMs) {
    const ward = new Ward();
    ward.server = await RedisServer.start();
    ward.child = new Child(name, { url: ward.server.url, namespace: namespaceOf(name), timeoutMs });
    await ward.child.ready;
    ward.staleMs = hasTrait(name, 'window') ? 3_000 : 0;
    return ward;
  }

  async endure(mode, prefix, { lead, down, tail }, seed) {
    const begin = now() + 80;
    const { staleMs } = this;
    const policy = { ttlMs: 1_000, staleMs, loadMs: 50 };
    const traffic = this.child.call('traffic', {
      ...{ prefix, keys: 20, rate: 100, ms: lead + down + tail, at: begin, seed, graceMs: 1_500 },
      ...policy,
    });
    await sleep(80 + lead);
    const from = now();
    await (mode === 'Redis frozen' ? this.server.freeze() : this.server.kill());
    await sleep(down);
    const to = now();
    await (mode === 'Redis frozen' ? this.server.thaw() : this.server.launch());
    return figuresOf(await traffic, from, to);
  }

  async close() {
    await this.child.stop();
    await this.server.stop();
  }
}

/** Of the calls that were meant to begin while Redis was ill. One that failed was never served. */
function figuresOf({ due, latencies, failed, spans }, from, to) {
  const calls = [...due.keys()].filter((index) => due[index] >= from && due[index] < to);
  const times = calls.map((index) => (failed[index] ? Infinity : latencies[index]));
  const inTime = calls.filter((index, at) => due[index] + times[at] <= to);
  return {
    served: inTime.length / calls.length,
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
    failed: calls.filter((index) => failed[index]).length / calls.length,
    peak: peakOf(spans.filter(([begin]) => begin >= from && begin < to)),
  };
}

export const illness = {
  id: 'illness',
  title: 'Redis frozen, Redis killed',
  about:
    'One process, 100 calls a second over 20 keys in an open loop, ttl 1 s, a load of 50 ms, a stale window of 3 s where there is one; then ' +
    'Redis is stopped (SIGSTOP) or killed for 2 s. Of the calls that were meant to begin meanwhile: the share served before Redis was back, ' +
    'p50 and p99 in ms (a call that failed counts as never served: ∞), the share that failed, most loads at once. Peers run with their ' +
    `clients' defaults and with an impatient client: ${TIMEOUT_MS} ms a command, no offline queue, one retry. Each has a Redis of its own; ` +
    'several are ill at once.',
  names: withTraits('ill'),
  processes: 0,
  view: {
    columns: [
      ['served', 'served', 'share'],
      ['p50', 'p50'],
      ['p99', 'p99'],
      ['failed', 'failed', 'share'],
      ['peak', 'loads at once'],
    ],
  },
  charts: MODES.map((mode) => ({
    case: mode,
    title: mode,
    figure: 'p99',
    label: 'p99 of the calls during the illness, ms',
    log: true,
  })),

  async run({ rounds, quick, measure, names = this.names }) {
    const setups = names.flatMap((name) => [
      { label: name, name },
      ...(ADAPTERS[name].impatient ? [{ label: name + IMPATIENT, name, timeoutMs: TIMEOUT_MS }] : []),
    ]);
    const wards = {};
    const opening = [...setups];
    try {
      while (opening.length > 0) {
        await Promise.all(
          opening.splice(0, 4).map(async ({ label, name, timeoutMs }) => {
            wards[label] = [await Ward.open(name, timeoutMs)];
          }),
        );
      }
      const times = quick ? { lead: 700, down: 1_200, tail: 300 } : { lead: 1_200, down: 2_000, tail: 1_000 };
      for (let round = 1; round <= rounds; round++) {
        for (const mode of MODES) {
          const one = ([ward]) => ward.endure(mode, `${mode.replace(' ', '-')}-${round}-`, times, round);
          await measure(mode, wards, one, { atOnce: quick ? 12 : 4, round });
        }
      }
    } finally {
      await Promise.all(Object.values(wards).map(([ward]) => ward.close()));
    }
  },
};
