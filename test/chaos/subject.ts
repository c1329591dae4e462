import { Redis } from 'ioredis';
import type { StampedeCacheEvent } from '../../lib/core/events/index.js';
import type { EntryKey } from '../../lib/core/keys/index.js';
import type { Request } from '../../lib/core/request.js';
import { StampedeCache } from '../../lib/core/stampede-cache.js';
import { createRedisStore } from '../../lib/redis/index.js';
import { createNodeRuntime } from '../../lib/runtime/index.js';
import { machineNow } from '../history/clock.js';
import { Random, seedOf } from '../history/random.js';
import { Origin } from './origin.js';
import type { CallRecord, ChangeRecord, Row } from './records.js';
import { sabotagedKey, sabotagedOptions, sabotagedStore, type Sabotage } from './sabotage.js';
import { MAX_LAG, OPTIONS, policyOf, tagOf } from './terms.js';

export interface SubjectSetup {
  readonly process: number;
  readonly seed: number;
  readonly redis: string;
  readonly originPort: number;
  /** Hands in an ioredis instance with ioredis's own defaults, instead of the URL. */
  readonly handsIn: boolean;
  /** The ways in which this build is wrong. */
  readonly sabotage: readonly Sabotage[];
}

const NAME = 'Shop.row';
const NAMESPACE = 'chaos';

/** The cache of one process, and all that was asked of it. */
export class Subject {
  readonly calls: CallRecord[] = [];
  readonly changes: ChangeRecord[] = [];
  readonly lines: { readonly at: number; readonly text: string }[] = [];
  underWay = 0;
  /** By key id: what the cache said of the load that it is about to begin. */
  private readonly leased = new Map<string, boolean>();

  private constructor(
    private readonly setup: SubjectSetup,
    private readonly cache: StampedeCache,
    readonly origin: Origin,
    /** Undefined: the cache made its own. */
    readonly client: Redis | undefined,
  ) {
    cache.listen((event) => this.onEvent(event));
  }

  static async open(setup: SubjectSetup): Promise<Subject> {
    const say: { line: (text: string) => void } = { line: () => undefined };
    const log = (text: string): void => say.line(text);
    const runtime = createNodeRuntime({ log: { info: log, warn: log } });
    const client = setup.handsIn ? handedIn(setup.redis) : undefined;
    const told: { cache?: StampedeCache } = {};
    const redis = await createRedisStore({
      connection: client ?? setup.redis,
      namespace: NAMESPACE,
      runtime,
      maxLag: MAX_LAG,
      onState: (state, reason) => {
        log(`Redis is ${state} (${reason})`);
        told.cache?.report(state, reason);
      },
    });
    const store = sabotagedStore(redis, setup.sabotage);
    const cache = new StampedeCache(sabotagedOptions(OPTIONS, setup.sabotage), {
      store,
      runtime,
      holder: `chaos-${setup.process}`,
    });
    told.cache = cache;
    const random = new Random(seedOf(setup.seed, setup.process, 1));
    const origin = new Origin(setup.process, setup.originPort, random);
    const subject = new Subject(setup, cache, origin, client);
    say.line = (text) => void subject.lines.push({ at: machineNow(), text });
    await cache.open();
    return subject;
  }

  /** One call, from its begin to its end. Never rejects. */
  async call(key: string): Promise<CallRecord> {
    const { process } = this.setup;
    const begin = machineNow();
    this.underWay += 1;
    let record: CallRecord;
    try {
      const { value, outcome } = await this.cache.answer(this.request(key));
      // Whatever comes back is judged: that it is a row is not taken for granted by those who do.
      record = { process, key, begin, end: machineNow(), outcome, row: value as Row };
    } catch (error) {
      record = { process, key, begin, end: machineNow(), error: nameOf(error) };
    }
    this.underWay -= 1;
    this.calls.push(record);
    return record;
  }

  /** Commits new versions of the rows, and says so to the cache. Never rejects. */
  async change(by: ChangeRecord['by'], keys: readonly [string, ...string[]]): Promise<void> {
    const versions = await this.origin.write(keys);
    const begin = machineNow();
    let error: string | undefined;
    try {
      await this.tell(by, keys[0], versions);
    } catch (thrown) {
      error = nameOf(thrown);
    }
    const { process } = this.setup;
    const end = machineNow();
    this.changes.push({ process, by, versions, begin, end, ...(error !== undefined && { error }) });
  }

  async close(): Promise<void> {
    await this.cache.close();
    this.origin.close();
    this.client?.disconnect();
  }

  private async tell(
    by: ChangeRecord['by'],
    key: string,
    versions: Readonly<Record<string, number>>,
  ): Promise<void> {
    const { changes } = this.cache;
    if (by === 'tag') return changes.invalidateTags([tagOf(Number(key.split('-')[1]))]);
    const request = this.request(key);
    if (by === 'key') return changes.invalidate([request]);
    await changes.set(request, { key, version: versions[key], load: 'set' });
  }

  private keyOf(key: string): EntryKey {
    return this.cache.requests.keyOf({ name: NAME }, undefined, sabotagedKey(key, this.setup.sabotage), NAME);
  }

  private request(key: string): Request {
    const { requests } = this.cache;
    const entry = this.keyOf(key);
    return {
      key: entry,
      name: NAME,
      policy: requests.policy(policyOf(key), NAME),
      call: requests.call(undefined),
      args: [key],
      load: ({ signal }) => this.origin.load(key, this.leased.get(entry.id) ?? false, signal),
    };
  }

  private onEvent(event: StampedeCacheEvent): void {
    // Emitted in the same tick in which the loader is called.
    if (event.type === 'load.start') this.leased.set(event.key, event.leased);
  }
}

/** As somebody would who has never heard of a time-out. */
function handedIn(url: string): Redis {
  const client = new Redis(url);
  client.on('error', () => undefined);
  return client;
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : String(error));
